package conversation_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/sounds"
)

var (
	corpusDir  = flag.String("corpus", "", "directory of recorded prompts, which run.sh fetches; empty means synthesized voices")
	half       = flag.String("half", "held", "half of the recorded speakers and languages: tune or held")
	utterances = flag.Int("utterances", 60, "number of recorded utterances for each condition")
)

const rate = 8000 // Hz, of all audio

// voiceLevel is the level of the loud parts of a caller's speech in dBFS.
const voiceLevel = -20

// word is a word of an utterance, at estimated samples.
type word struct {
	text       string
	start, end int
}

// utterance is recorded speech without the silence before and after it.
type utterance struct {
	speaker  string
	language string
	samples  []int16
	words    []word
}

// corpus contains the voices of the callers.
type corpus struct {
	sentences []utterance            // without long pauses, from 1.2 to 6 s
	digits    map[string][]utterance // the ten digits of a speaker
	short     []utterance            // short utterances over the agent's words, which interrupt it
	music     [][]int16              // hold music
}

// speakers lists the recorded speakers by half. No speaker and no language is in both halves, except Italian, which two people speak.
var speakers = map[string][]struct{ folder, language, texts string }{
	"tune": {
		{"en_US_f_Allison", "en", "core-sounds-en.txt"}, {"es_MX_f_Allison", "es", "core-sounds-es.txt"}, {"it_IT_f_Menardi", "it", ""},
	},
	"held": {
		{"fr_CA_f_June", "fr", "core-sounds-fr.txt"}, {"it_IT_m_Carlo", "it", "core-sounds-it.txt"}, {"ru_RU_f_IvrvoiceRU", "ru", "core-sounds-ru.txt"},
	},
}

// load returns the recorded corpus, or a synthesized one if the flag corpus is empty.
func load(t *testing.T) corpus {
	t.Helper()
	if *corpusDir == "" {
		return synthesized(t)
	}
	c := corpus{digits: map[string][]utterance{}}
	for _, s := range speakers[*half] {
		folder := filepath.Join(*corpusDir, "prompts/usr/share/asterisk/sounds", s.folder)
		texts := promptTexts(t, s.language, s.texts)
		files, err := filepath.Glob(filepath.Join(folder, "*.wav"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no prompts in %s: %v", folder, err)
		}
		var sentences []utterance
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".wav")
			text := texts[name]
			if texts == nil {
				text = "una frase che nessuno ha scritto"
			}
			u, ok := newUtterance(s.folder, s.language, text, readWAV(t, file))
			if ok && len(u.samples) > 1.2*rate && len(u.samples) < 6*rate && u.longestPause() < 300*time.Millisecond && !strings.HasPrefix(name, "tt-") {
				sentences = append(sentences, u)
			}
		}
		c.sentences = append(c.sentences, spread(sentences, (*utterances+2)/len(speakers[*half]))...)
		c.digits[s.folder] = recordedDigits(t, folder, s.folder, s.language)
	}
	c.short = c.sentences
	files, err := filepath.Glob(filepath.Join(*corpusDir, "prompts/usr/share/asterisk/moh/*.wav"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no hold music: %v", err)
	}
	for _, file := range files {
		c.music = append(c.music, readWAV(t, file))
	}
	return c
}

// spread returns n elements of all, at equal distances.
func spread[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	out := make([]T, 0, n)
	for i := range n {
		out = append(out, all[i*len(all)/n])
	}
	return out
}

// promptTexts returns the texts of a language's prompts by name, or nil if file is empty.
func promptTexts(t *testing.T, language, file string) map[string]string {
	t.Helper()
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(filepath.Join(*corpusDir, "prompts/usr/share/doc/asterisk-core-sounds-"+language, file))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if name, text, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(name, ";") {
			texts[strings.TrimSpace(name)] = strings.TrimSpace(text)
		}
	}
	return texts
}

// digitWords contains the digits from 0 to 9 in each language of the corpus.
var digitWords = map[string]string{
	"en": "zero one two three four five six seven eight nine",
	"es": "cero uno dos tres cuatro cinco seis siete ocho nueve",
	"fr": "zéro un deux trois quatre cinq six sept huit neuf",
	"it": "zero uno due tre quattro cinque sei sette otto nove",
	"ru": "ноль один два три четыре пять шесть семь восемь девять",
}

func recordedDigits(t *testing.T, folder, speaker, language string) []utterance {
	t.Helper()
	var all []utterance
	for i, text := range strings.Fields(digitWords[language]) {
		u, ok := newUtterance(speaker, language, text, readWAV(t, filepath.Join(folder, "digits", string(rune('0'+i))+".wav")))
		if !ok {
			t.Fatalf("the digit %d of %s is silent", i, speaker)
		}
		all = append(all, u)
	}
	return all
}

// synthesized returns the corpus of the small measurement.
func synthesized(t *testing.T) corpus {
	t.Helper()
	c := corpus{digits: map[string][]utterance{}}
	for i, text := range []string{
		"I would like to come on Tuesday afternoon if you have something after four.",
		"No, that was my sister, and she has moved to Springfield.",
		"Can you tell me how much it is?",
		"Please send the letter to my new address.",
	} {
		for _, voice := range []string{"slt", "rms", "awb", "kal16"}[i%2*2 : i%2*2+2] {
			u, ok := newUtterance(voice, "en", text, sounds.Speech(t, voice, text))
			if !ok {
				t.Fatalf("%s is silent", voice)
			}
			c.sentences = append(c.sentences, u)
		}
	}
	for _, voice := range []string{"slt", "rms"} {
		for _, text := range []string{"Wait, stop please, I have a question.", "No, that is not what I meant."} {
			u, _ := newUtterance(voice, "en", text, sounds.Speech(t, voice, text))
			c.short = append(c.short, u)
		}
		for _, text := range strings.Fields(digitWords["en"]) {
			u, _ := newUtterance(voice, "en", text, sounds.Speech(t, voice, text))
			c.digits[voice] = append(c.digits[voice], u)
		}
	}
	music := sounds.Music(voiceLevel)
	song := make([]int16, 30*rate)
	for i := range song {
		song[i] = sounds.Clip(music(i))
	}
	c.music = [][]int16{song}
	return c
}

// newUtterance cuts the silence around speech, gives it the level of a caller, and estimates the times of its words. It returns false if
// the audio or the text is empty.
func newUtterance(speaker, language, text string, samples []int16) (utterance, bool) {
	if len(samples) < rate/10 || strings.TrimSpace(text) == "" || sounds.RMS(samples) < 20 {
		return utterance{}, false
	}
	samples = sounds.Scale(samples, voiceLevel)
	first, last := -1, 0
	for i := range len(samples) / frame {
		if sounds.RMS(samples[i*frame:(i+1)*frame]) > sounds.Amplitude(voiceLevel-28) {
			if first < 0 {
				first = i
			}
			last = i + 1
		}
	}
	if first < 0 || last-first < 5 {
		return utterance{}, false
	}
	u := utterance{speaker: speaker, language: language, samples: samples[first*frame : last*frame]}
	u.align(strings.Fields(text))
	return u, true
}

// frame is the number of samples in 20 ms.
const frame = rate / 50

// quiet reports whether a frame is far softer than the speech.
func (u *utterance) quiet(n int) bool {
	return sounds.RMS(u.samples[n*frame:(n+1)*frame]) < sounds.Amplitude(voiceLevel-24)
}

// align estimates the times of the words: the time without pauses is divided in proportion to the letters, and each boundary is moved to
// the softest of the nearest frames.
func (u *utterance) align(texts []string) {
	frames := len(u.samples) / frame
	var voiced []int
	for n := range frames {
		if !u.quiet(n) {
			voiced = append(voiced, n)
		}
	}
	letters := 0
	for _, text := range texts {
		letters += len([]rune(text)) + 1
	}
	start, done := 0, 0
	for i, text := range texts {
		done += len([]rune(text)) + 1
		end := frames
		if i < len(texts)-1 && len(voiced) > 0 {
			end = max(start, u.softest(voiced[min(done*len(voiced)/letters, len(voiced)-1)]))
		}
		u.words = append(u.words, word{text: text, start: start * frame, end: end * frame})
		start = end
	}
}

// softest returns the softest frame within 100 ms of a frame.
func (u *utterance) softest(n int) int {
	best, least := n, math.Inf(1)
	for k := max(0, n-5); k < min(n+6, len(u.samples)/frame); k++ {
		if level := sounds.RMS(u.samples[k*frame : (k+1)*frame]); level < least {
			best, least = k, level
		}
	}
	return best
}

// longestPause returns the length of the longest pause.
func (u *utterance) longestPause() time.Duration {
	longest, run := 0, 0
	for n := range len(u.samples) / frame {
		run++
		if !u.quiet(n) {
			run = 0
		}
		longest = max(longest, run)
	}
	return time.Duration(longest) * 20 * time.Millisecond
}

// readWAV returns the samples of a file with 16 bits and 8 kHz.
func readWAV(t *testing.T, file string) []int16 {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(raw, []byte("data"))
	if at < 0 || binary.LittleEndian.Uint32(raw[24:]) != rate {
		t.Fatalf("%s does not have 8 kHz", file)
	}
	var samples []int16
	for b := range slices.Chunk(raw[at+8:len(raw)-len(raw)%2], 2) {
		if len(b) == 2 {
			samples = append(samples, int16(binary.LittleEndian.Uint16(b))) //nolint:gosec // two's complement
		}
	}
	return samples
}
