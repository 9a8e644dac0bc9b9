package voicemail_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/voicemail"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

const rate = 8000

// sound is a stretch of the other side's audio.
type sound []int16

// at scales a tone to a level in dBFS.
func at(dBFS float64, s sound) sound {
	for i := range s {
		s[i] = int16(float64(s[i]) / 9000 * math.Sqrt2 * 32768 * math.Pow(10, dBFS/20))
	}
	return s
}

func silence(d time.Duration) sound { return make(sound, pcm.Samples(d, rate)) }

func tone(hertz float64, d time.Duration) sound {
	s := silence(d)
	for i := range s {
		s[i] = int16(9000 * math.Sin(2*math.Pi*hertz*float64(i)/rate))
	}
	return s
}

// speech returns the synthesized speech of a person or a machine.
func speech(t *testing.T, voice, text string) sound {
	t.Helper()
	engine, err := flite.New(flite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := engine.Synthesize(t.Context(), tts.Request{Text: text, Voice: voice, Rate: rate})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var all sound
	buffer := make([]int16, 1600)
	for {
		n, err := stream.Read(buffer)
		all = append(all, buffer[:n]...)
		if err != nil {
			return all
		}
	}
}

// line concatenates sounds, and adds the noise and the G.711 coding of a telephone line.
func line(sounds ...sound) []int16 {
	codec, err := g711.PCMU().New()
	if err != nil {
		panic(err)
	}
	var all []int16
	noise := rand.New(rand.NewPCG(1, 2))
	for _, s := range sounds {
		for _, v := range s {
			all = append(all, v+int16(noise.NormFloat64()*12))
		}
	}
	payload, err := codec.Encode(nil, all)
	if err != nil {
		panic(err)
	}
	heard, err := codec.Decode(nil, payload)
	if err != nil {
		panic(err)
	}
	return heard
}

// listen returns the last verdict on a line's audio, and the first time at which a machine's recording was over.
func listen(samples []int16) (last call.Answerer, over time.Duration) {
	d := voicemail.New(rate, "en", nil)
	const frame = rate / 50
	for i := 0; i+frame <= len(samples); i += frame {
		now := pcm.Duration(i+frame, rate)
		last = d.Hear(conversation.Frame{In: samples[i : i+frame], Elapsed: now})
		if last.Category == call.CategoryVoicemail && over == 0 && d.Ended() {
			over = now
		}
	}
	return last, over
}

const recorded = "Hello. You have reached the office of Robin Miller. Nobody can take your call right now. " +
	"Please leave your name and your number after the tone, and we will call you back as soon as we can."

func TestVerdicts(t *testing.T) {
	t.Parallel()
	pause := silence(700 * time.Millisecond)
	beep := tone(1000, 400*time.Millisecond)
	machine := speech(t, "slt", recorded)
	for name, test := range map[string]struct {
		line []int16
		want call.Category
	}{
		"hello":              {line(pause, speech(t, "rms", "Hello?"), silence(4*time.Second)), call.CategoryHuman},
		"a name":             {line(pause, speech(t, "slt", "Robin Miller speaking."), silence(4*time.Second)), call.CategoryHuman},
		"an office":          {line(pause, speech(t, "awb", "Good morning, Miller and sons, how may I help you?"), silence(4*time.Second)), call.CategoryHuman},
		"a machine":          {line(pause, machine, pause, beep, silence(3*time.Second)), call.CategoryVoicemail},
		"a machine, no tone": {line(pause, machine, silence(3*time.Second)), call.CategoryVoicemail},
		"a short machine":    {line(pause, speech(t, "slt", "Leave a message."), silence(500*time.Millisecond), beep, silence(2*time.Second)), call.CategoryVoicemail},
		"only a tone":        {line(pause, tone(440, 600*time.Millisecond), silence(2*time.Second)), call.CategoryVoicemail},
		"a late machine":     {line(silence(4*time.Second), machine), call.CategoryVoicemail},
		"nobody":             {line(silence(31 * time.Second)), call.CategoryUnknown},
		"a click, then hello": {
			line(pause, tone(700, 20*time.Millisecond), silence(1500*time.Millisecond), speech(t, "rms", "Hello?"), silence(3*time.Second)),
			call.CategoryHuman,
		},
		"digits": {
			line(pause, digit5(), silence(time.Second), speech(t, "rms", "Yes?"), silence(2*time.Second)), call.CategoryHuman,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if last, _ := listen(test.line); last.Category != test.want {
				t.Errorf("the verdict is %+v, want %s", last, test.want)
			}
		})
	}
}

// digit5 returns a DTMF 5. It consists of two frequencies, while a machine's tone has one.
func digit5() sound {
	low, high := tone(770, 200*time.Millisecond), tone(1336, 200*time.Millisecond)
	for i := range low {
		low[i] = low[i]/2 + high[i]/2
	}
	return low
}

// TestBeeps checks that soft tones from 350 Hz to 2.1 kHz after a greeting are an answering machine's, and that the message follows 200 ms
// after the tone.
func TestBeeps(t *testing.T) {
	t.Parallel()
	greeting := speech(t, "slt", "This is Anna.")
	begin := 1600*time.Millisecond + pcm.Duration(len(greeting), rate)
	for _, hertz := range []float64{350, 400, 425, 440, 480, 620, 850, 950, 1000, 1004, 1100, 1400, 2100} {
		for _, length := range []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, time.Second} {
			samples := line(silence(time.Second), greeting, silence(600*time.Millisecond), at(-35, tone(hertz, length)), silence(time.Second))
			last, over := listen(samples)
			if late := over - begin - length; last.Rule != call.RuleBeep || late < 180*time.Millisecond || late > 280*time.Millisecond {
				t.Errorf("%v Hz for %s: %+v, over %s after the tone", hertz, length, last, late)
			}
		}
	}
}

// TestVoicesAreNoTones checks that voices and DTMF are never taken for a machine's tone, whatever the verdict is.
func TestVoicesAreNoTones(t *testing.T) {
	t.Parallel()
	for _, voice := range []string{"slt", "rms", "awb", "kal16"} {
		last, _ := listen(line(silence(time.Second), speech(t, voice, recorded+" Ooh, aah, hmm, no, one, two. La la la."), digit5(), silence(time.Second)))
		if last.Rule != call.RuleLongGreeting {
			t.Errorf("the voice %s is %+v", voice, last)
		}
	}
}

// TestNetworkTones checks the tones that precede or replace an answer.
func TestNetworkTones(t *testing.T) {
	t.Parallel()
	pause := func(ms int) sound { return silence(time.Duration(ms) * time.Millisecond) }
	ms := func(hertz float64, ms int) sound { return tone(hertz, time.Duration(ms)*time.Millisecond) }
	repeat := func(times int, sounds ...sound) sound {
		var all sound
		for range times {
			all = append(all, slices.Concat(sounds...)...)
		}
		return all
	}
	hello := speech(t, "rms", "Hello?")
	for name, test := range map[string]struct {
		sounds []sound
		want   call.Category
	}{
		"a fax machine that answers":          {[]sound{pause(1500), ms(2100, 3000), pause(3000)}, call.CategoryFax},
		"a fax machine that calls":            {[]sound{repeat(3, ms(1100, 500), pause(3000))}, call.CategoryFax},
		"special information tones":           {[]sound{pause(300), ms(950, 330), ms(1400, 330), ms(1800, 330), pause(500)}, call.CategorySIT},
		"special information tones, American": {[]sound{pause(300), ms(985.2, 380), ms(1428.5, 274), ms(1776.7, 380), pause(500)}, call.CategorySIT},
		"a single tone of 1100 Hz":            {[]sound{pause(300), ms(1100, 500), pause(6000)}, call.CategoryVoicemail},
		"ringback":                            {[]sound{repeat(2, ms(425, 1000), pause(4000))}, ""},
		"ringback, then a person":             {[]sound{ms(425, 1000), pause(4000), hello, pause(3000)}, call.CategoryHuman},
		"busy":                                {[]sound{repeat(8, ms(425, 500), pause(500))}, ""},
		"congestion":                          {[]sound{repeat(12, ms(425, 250), pause(250))}, ""},
	} {
		last, _ := listen(line(test.sounds...))
		if last.Category != test.want {
			t.Errorf("%s is %+v", name, last)
		}
	}
}

// TestMessageComesAfterTheGreeting checks that Ended returns true only after a greeting's tone or, without a tone, after its silence.
func TestMessageComesAfterTheGreeting(t *testing.T) {
	t.Parallel()
	machine := speech(t, "rms", recorded)
	ends := time.Second + pcm.Duration(len(machine), rate)
	tail := silence(5 * time.Second)
	_, over := listen(line(silence(time.Second), machine, silence(time.Second), tone(1000, 500*time.Millisecond), tail))
	if beeped := ends + 1500*time.Millisecond; over < beeped || over > beeped+500*time.Millisecond {
		t.Errorf("with a tone until %s the greeting is over at %s", beeped, over)
	}
	if _, over = listen(line(silence(time.Second), machine, tail)); over < ends || over > ends+2500*time.Millisecond {
		t.Errorf("without a tone, the words end at %s and the greeting at %s", ends, over)
	}
}

// BenchmarkHear measures the processing of one frame.
func BenchmarkHear(b *testing.B) {
	d := voicemail.New(rate, "en", nil)
	frame := conversation.Frame{In: line(tone(1000, 20*time.Millisecond))}
	b.ReportAllocs()
	for b.Loop() {
		d.Hear(frame)
	}
}

// TestRepetition checks that a short recording which is repeated belongs to a machine, and that a person may say another sentence of the same
// length, or the same sentence at another speed.
func TestRepetition(t *testing.T) {
	t.Parallel()
	once := speech(t, "rms", "The number is not in service.")
	slower := make([]int16, len(once)*11/10)
	for i := range slower {
		slower[i] = once[i*10/11]
	}
	other := speech(t, "rms", "Is there anybody on the line?")
	for name, c := range map[string]struct {
		second []int16
		want   call.Category
	}{
		"the same recording":                 {once, call.CategoryVoicemail},
		"the same sentence at another speed": {slower, call.CategoryHuman},
		"another sentence":                   {other[:min(len(other), len(once))], call.CategoryHuman},
	} {
		last, _ := listen(line(silence(time.Second), once, silence(2010*time.Millisecond), c.second, silence(3*time.Second)))
		if last.Category != c.want {
			t.Errorf("%s is %+v", name, last)
		}
	}
}
