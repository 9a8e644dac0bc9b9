package conversation_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/voicemail"
	"github.com/callwright/callwright/internal/sounds"
)

// machineSection is the index of the table's section about machines.
const machineSection = 5

// speakersOf lists the variants of the voices of espeak-ng that speak a half of the greetings.
var speakersOf = map[string][]string{"tune": {"m1", "f1", "m3", "f3", "m5"}, "held": {"m2", "f2", "m4", "f4", "m7"}}

// answered is a call that is answered by a party, with the words of a recognizer.
type answered struct {
	greeting
	samples []int16
	words   string // with the errors of a recognizer
	spoken  int    // sample at which the words end
}

// TestMachineGreetings measures how often the answering machine detector names the party that answered: by sound whether it is a person,
// and with words the category, too. The voices are synthesized, at various speeds and pauses, over G.711 and noise. Two of three answering
// machines end with a tone from 350 to 1400 Hz. Announcements and menus are repeated twice, and special information tones precede half of the
// announcements. The agent is silent. A recognizer loses 8 % of the words, and replaces 4 %.
func TestMachineGreetings(t *testing.T) {
	var mu sync.Mutex
	total, byCategory := map[string]*counts{"sound": {}, "words": {}}, map[call.Category]map[string]*counts{}
	tries := len(speakersOf[*half])
	if small() {
		tries = 1
	}
	t.Run("greetings", func(t *testing.T) {
		for n, g := range greetings[*half] {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				for try := range tries {
					a := answeredBy(t, g, uint64(100*n+try), speakersOf[*half][(n+try)%len(speakersOf[*half])])
					sound, words := identify(a, false), identify(a, true)
					right := (sound.Category == call.CategoryHuman) == (g.category == call.CategoryHuman)
					mu.Lock()
					if byCategory[g.category] == nil {
						byCategory[g.category] = map[string]*counts{"sound": {}, "words": {}}
					}
					for _, c := range []map[string]*counts{total, byCategory[g.category]} {
						c["sound"].add(when(right, "right"))
						c["words"].add(when(identified(words.Category, g.category), "right"))
					}
					mu.Unlock()
					if !right || !identified(words.Category, g.category) {
						t.Logf("%s %q: by sound %s (%s), with words %q %s (%s)", g.category, g.text, sound.Category, sound.Rule, a.words, words.Category, words.Rule)
					}
				}
			})
		}
	})
	position := 0
	for _, category := range []call.Category{
		call.CategoryHuman, call.CategoryVoicemail, call.CategoryIVR, call.CategoryAnnouncement, call.CategoryScreening,
	} {
		c := byCategory[category]
		addRow(machineSection, position, string(category), fmt.Sprint(c["sound"].all), c["sound"].percent("right"), c["words"].percent("right"))
		position++
	}
	addRow(machineSection, position, "all", fmt.Sprint(total["sound"].all), total["sound"].percent("right"), total["words"].percent("right"))
	atLeast(t, "by sound", total["sound"].share("right"), 89, 4)
	atLeast(t, "with words", total["words"].share("right"), 92, 4)
}

// identified reports whether a verdict is right: special information tones belong to an announcement.
func identified(got, want call.Category) bool {
	return got == want || got == call.CategorySIT && want == call.CategoryAnnouncement
}

// identify returns the last verdict on a call. The words arrive 700 ms after the last one.
func identify(a answered, withWords bool) (last call.Answerer) {
	d := voicemail.New(rate, a.language, nil)
	const frame = rate / 50
	for i := 0; i+frame <= len(a.samples); i += frame {
		if due := a.spoken + rate*7/10; withWords && i <= due && due < i+frame {
			d.Words(a.words, true)
		}
		last = d.Hear(conversation.Frame{In: a.samples[i : i+frame], Elapsed: time.Duration(i/frame) * 20 * time.Millisecond})
	}
	return last
}

// answeredBy makes the call of a greeting. The seed selects its random properties.
func answeredBy(t *testing.T, g greeting, seed uint64, variant string) answered {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 27))
	silence := func(least, most float64) []int16 { return make([]int16, int(rate*(least+r.Float64()*(most-least)))) }
	samples := silence(0.2, 1.2)
	tones := 0 // length of the special information tones, which keep their level
	if g.category == call.CategoryAnnouncement && r.IntN(2) == 0 {
		for _, hertz := range []float64{950, 1400, 1800} {
			samples = append(samples, beep(hertz, -20, 0.33)...)
		}
		tones = len(samples)
		samples = append(samples, silence(0.2, 0.6)...)
	}
	sentences := strings.SplitAfter(g.text, ". ")
	for i, sentence := range sentences {
		if i > 0 {
			samples = append(samples, silence(0.15, 0.9)...)
		}
		samples = append(samples, espeak(t, g.language+"+"+variant, 140+r.IntN(50), sentence)...)
	}
	samples = append(samples[:tones:tones], sounds.Scale(samples[tones:], -14-r.Float64()*14)...)
	a := answered{greeting: g, spoken: len(samples)}
	if g.category == call.CategoryAnnouncement || g.category == call.CategoryIVR {
		again := samples[tones:]
		for range 2 {
			samples = append(append(samples, silence(1.5, 3)...), again...)
		}
	}
	if g.category == call.CategoryVoicemail && r.IntN(3) > 0 {
		samples = append(samples, silence(0.3, 1.2)...)
		samples = append(samples, beep(350+r.Float64()*1050, -15-r.Float64()*20, 0.2+r.Float64()*0.6)...)
	}
	samples = append(samples, silence(4, 5)...)
	a.samples = sounds.Mix(samples, sounds.White(-65+r.Float64()*15))
	for word := range strings.FieldsSeq(g.text) {
		switch p := r.Float64(); {
		case p < 0.08:
		case p < 0.12:
			a.words += " something"
		default:
			a.words += " " + word
		}
	}
	return a
}

// beep returns a tone with a level in dBFS and a duration in seconds.
func beep(hertz, dBFS, seconds float64) []int16 {
	out := make([]int16, int(rate*seconds))
	for i := range out {
		out[i] = sounds.Clip(sounds.Amplitude(dBFS) * math.Sqrt2 * math.Sin(2*math.Pi*hertz*float64(i)/rate))
	}
	return out
}

// espeak returns a text that the program espeak-ng speaks, at 8 kHz and without silence at its ends. speed is in words per minute.
func espeak(t *testing.T, voice string, speed int, text string) []int16 {
	t.Helper()
	wav, err := exec.CommandContext(t.Context(), "espeak-ng", "--stdout", "-v", voice, "-s", strconv.Itoa(speed), text).Output()
	if err != nil {
		t.Fatalf("espeak-ng does not speak; install it with apt-get install espeak-ng: %v", err)
	}
	from := float64(binary.LittleEndian.Uint32(wav[24:])) / rate
	data := wav[bytes.Index(wav, []byte("data"))+8:]
	var out []int16
	for at := 0.0; int(at+from)*2+2 <= len(data); at += from { // the mean of the samples within one at 8 kHz
		sum, n := 0, 0
		for i := int(at); i < int(at+from); i++ {
			sum, n = sum+int(int16(binary.LittleEndian.Uint16(data[2*i:]))), n+1
		}
		out = append(out, int16(sum/n))
	}
	for len(out) > 0 && out[len(out)-1] < 100 && out[len(out)-1] > -100 {
		out = out[:len(out)-1]
	}
	return out
}
