package voicemail_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/voicemail"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

const rate = 8000

// sound is a stretch of the other side's audio.
type sound []int16

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

// heard returns the verdict on a line's audio, the time of the verdict, and the time at which the greeting was over. A time is 0 if the
// event did not happen.
func heard(samples []int16) (verdict call.AnsweredBy, at, over time.Duration) {
	d := voicemail.New(rate)
	const frame = rate / 50
	for i := 0; i+frame <= len(samples); i += frame {
		now := pcm.Duration(i+frame, rate)
		v, decided := d.Hear(conversation.Frame{In: samples[i : i+frame]})
		if decided && at == 0 {
			verdict, at = v, now
		}
		if decided && v == call.AnsweredByVoicemail && over == 0 && d.Ended() {
			over = now
		}
	}
	return verdict, at, over
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
		want call.AnsweredBy
	}{
		"hello":              {line(pause, speech(t, "rms", "Hello?"), silence(4*time.Second)), call.AnsweredByHuman},
		"a name":             {line(pause, speech(t, "slt", "Robin Miller speaking."), silence(4*time.Second)), call.AnsweredByHuman},
		"an office":          {line(pause, speech(t, "awb", "Good morning, Miller and sons, how may I help you?"), silence(4*time.Second)), call.AnsweredByHuman},
		"a machine":          {line(pause, machine, pause, beep, silence(3*time.Second)), call.AnsweredByVoicemail},
		"a machine, no tone": {line(pause, machine, silence(3*time.Second)), call.AnsweredByVoicemail},
		"a short machine":    {line(pause, speech(t, "slt", "Leave a message."), silence(500*time.Millisecond), beep, silence(2*time.Second)), call.AnsweredByVoicemail},
		"only a tone":        {line(pause, tone(440, 600*time.Millisecond), silence(2*time.Second)), call.AnsweredByVoicemail},
		"a late talker":      {line(silence(4*time.Second), machine), ""},
		"nobody":             {line(silence(31 * time.Second)), call.AnsweredByUnknown},
		"a click, then hello": {
			line(pause, tone(700, 20*time.Millisecond), silence(1500*time.Millisecond), speech(t, "rms", "Hello?"), silence(3*time.Second)),
			call.AnsweredByHuman,
		},
		"digits": {
			line(pause, digit5(), silence(time.Second), speech(t, "rms", "Yes?"), silence(2*time.Second)), call.AnsweredByHuman,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if verdict, at, _ := heard(test.line); verdict != test.want {
				t.Errorf("the verdict is %q after %s, want %q", verdict, at, test.want)
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

// TestTones checks that common tones are found at every sample rate, and that voices are never mistaken for tones.
func TestTones(t *testing.T) {
	t.Parallel()
	for _, hertz := range []float64{400, 440, 620, 850, 1000, 1004, 1400, 2100} {
		if verdict, at, over := heard(line(silence(time.Second), tone(hertz, 300*time.Millisecond), silence(time.Second))); verdict != call.AnsweredByVoicemail ||
			at < 1100*time.Millisecond || over < 1300*time.Millisecond || over > 1600*time.Millisecond {
			t.Errorf("%v Hz: %q at %s, over at %s", hertz, verdict, at, over)
		}
	}
	for _, voice := range []string{"slt", "rms", "awb", "kal16"} {
		if verdict, at, _ := heard(line(silence(4*time.Second), speech(t, voice, recorded+" Ooh, aah, hmm, no, one, two. La la la."))); verdict != "" {
			t.Errorf("the voice %s is %q after %s", voice, verdict, at)
		}
	}
	if verdict, _, _ := heard(line(silence(4*time.Second), sound(agentstest.Voice("a synthetic voice that hums", rate)))); verdict != "" {
		t.Errorf("the tests' voice is %q", verdict)
	}
}

// TestMessageComesAfterTheGreeting checks that Ended returns true only after a greeting's tone or, without a tone, after its silence.
func TestMessageComesAfterTheGreeting(t *testing.T) {
	t.Parallel()
	machine := speech(t, "rms", recorded)
	ends := time.Second + pcm.Duration(len(machine), rate)
	tail := silence(5 * time.Second)
	_, _, over := heard(line(silence(time.Second), machine, silence(time.Second), tone(1000, 500*time.Millisecond), tail))
	if beeped := ends + 1500*time.Millisecond; over < beeped || over > beeped+500*time.Millisecond {
		t.Errorf("with a tone until %s the greeting is over at %s", beeped, over)
	}
	if _, _, over = heard(line(silence(time.Second), machine, tail)); over < ends || over > ends+2500*time.Millisecond {
		t.Errorf("without a tone, the words end at %s and the greeting at %s", ends, over)
	}
}

// BenchmarkHear measures the processing of one frame.
func BenchmarkHear(b *testing.B) {
	d := voicemail.New(rate)
	frame := conversation.Frame{In: line(tone(1000, 20*time.Millisecond))}
	b.ReportAllocs()
	for b.Loop() {
		d.Hear(frame)
	}
}
