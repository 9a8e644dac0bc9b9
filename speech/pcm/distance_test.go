package pcm_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

// sentences lists typical sentences of agents. The last two are very short.
var sentences = []string{
	"Hello, this is Callwright. How can I help you today?",
	"Please tell me your name and your date of birth.",
	"I am sorry, I did not understand that. Could you say it again?",
	"Your appointment is on Tuesday at half past nine.",
	"Your appointment is on Thursday at a quarter past ten.",
	"Thank you for calling. Have a good day. Goodbye.",
	"Would you like me to transfer you to a colleague?",
	"The delivery will arrive between two and four in the afternoon.",
	"I have noted that down and somebody will call you back.",
	"Is there anything else that I can do for you?",
	"Your account number ends with seven three five one.",
	"One moment please, I am looking that up.",
	"Yes, please.",
	"No, thank you.",
}

// speak returns a text as spoken by flite.
func speak(t *testing.T, voice, text string) pcm.Audio {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out := filepath.Join(t.TempDir(), "speech.wav")
	if msg, err := exec.CommandContext(ctx, "flite", "-voice", voice, "-t", text, "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("flite speaks for this test (apt-get install flite): %v %s", err, msg)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	audio, err := pcm.ReadWAV(bytes.NewReader(raw), 1<<22)
	if err != nil {
		t.Fatal(err)
	}
	return audio
}

// mulaw quantizes a sample as 8-bit mu-law does, in 255 steps on the continuous law of G.711.
func mulaw(s int16) int16 {
	x := float64(s) / 32768
	y := math.Copysign(math.Log1p(255*math.Abs(x))/math.Log(256), x)
	y = math.Round(y*127) / 127
	return int16(math.Copysign((math.Pow(256, math.Abs(y))-1)/255, y) * 32767)
}

// telephone returns audio as received in a call: at 8 kHz, amplified by gain in dB, companded, delayed by 5237 samples, followed by a
// second without speech, and with faint noise throughout. loss is the fraction of the 20 ms packets that is lost.
func telephone(t *testing.T, a pcm.Audio, gain, loss float64, seed uint64) []int16 {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	narrow, err := pcm.Resample(a.Mono(), a.Rate, 8000)
	if err != nil {
		t.Fatal(err)
	}
	narrow = append([]int16(nil), narrow...)
	pcm.Amplify(narrow, gain)
	line := make([]int16, 5237, 5237+len(narrow)+8000)
	line = append(append(line, narrow...), make([]int16, 8000)...)
	for start := 0; start < len(line); start += 160 {
		lost := random.Float64() < loss
		for i := start; i < min(start+160, len(line)); i++ {
			if lost {
				line[i] = 0
			}
			line[i] = mulaw(line[i] + int16(random.NormFloat64()*12))
		}
	}
	return line
}

func TestCompareTellsSentencesApart(t *testing.T) {
	t.Parallel()
	for _, voice := range []string{"slt", "rms", "kal16"} {
		t.Run(voice, func(t *testing.T) {
			t.Parallel()
			spoken, heard := make([]pcm.Audio, len(sentences)), make([][]int16, len(sentences))
			for i, text := range sentences {
				spoken[i] = speak(t, voice, text)
				heard[i] = telephone(t, spoken[i], -9, 0.03, uint64(i))
			}
			same, other := 0.0, 2.0
			for i := range spoken {
				var others []int16
				for j := range heard {
					if j != i {
						others = append(others, heard[j]...)
					}
				}
				same = max(same, compare(t, spoken[i], heard[i]).Distance)
				other = min(other, compare(t, spoken[i], others).Distance)
			}
			t.Logf("same sentence at most %.3f, any other at least %.3f", same, other)
			if same > pcm.SameSpeech-0.02 || other < pcm.SameSpeech+0.02 {
				t.Errorf("same sentence at most %.3f, any other at least %.3f: both must be clear of %v", same, other, pcm.SameSpeech)
			}
		})
	}
}

func compare(t *testing.T, reference pcm.Audio, recording []int16) pcm.Match {
	t.Helper()
	m, err := pcm.Compare(reference.Mono(), reference.Rate, recording, 8000)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCompareFindsThePlace(t *testing.T) {
	t.Parallel()
	first, second := speak(t, "slt", sentences[0]), speak(t, "slt", sentences[1])
	call := telephone(t, first, 0, 0, 1)
	before := pcm.Duration(len(call), 8000)
	call = append(call, telephone(t, second, 0, 0, 2)...)
	m := compare(t, second, call)
	// telephone inserts 5237 samples before the speech, and flite's output begins with about 0.2 s of silence.
	want := before + pcm.Duration(5237, 8000)
	if m.Distance > 0.15 || m.Offset < want || m.Offset > want+400*time.Millisecond || m.End <= m.Offset {
		t.Errorf("second sentence found at %v to %v with distance %.3f, want a begin just after %v", m.Offset, m.End, m.Distance, want)
	}
	if m := compare(t, first, call); m.Offset > before {
		t.Errorf("first sentence found at %v, in the second half", m.Offset)
	}
}

func TestCompareExtremes(t *testing.T) {
	t.Parallel()
	a := speak(t, "rms", sentences[2])
	if m, err := pcm.Compare(a.Mono(), a.Rate, a.Mono(), a.Rate); err != nil || m.Distance > 1e-6 {
		t.Errorf("the same sound: distance %v, error %v", m.Distance, err)
	}
	if m := compare(t, a, make([]int16, 80000)); m.Distance < 0.9 {
		t.Errorf("silence: distance %v", m.Distance)
	}
	if m := compare(t, a, nil); m.Distance != 2 {
		t.Errorf("no recording: distance %v, want the largest", m.Distance)
	}
	noise := make([]int16, 80000)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range noise {
		noise[i] = int16(random.NormFloat64() * 3000)
	}
	if m := compare(t, a, noise); m.Distance < 0.7 {
		t.Errorf("noise: distance %v", m.Distance)
	}
	if _, err := pcm.Compare(make([]int16, 8000), 8000, noise, 8000); callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("a silent reference: error %v", err)
	}
	if _, err := pcm.Compare(noise, 8000, make([]int16, 8000*601), 8000); callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("a recording of over ten minutes: error %v", err)
	}
}
