package pocketsphinx_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/pocketsphinx"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/speech/pcm"
)

// recorded is the folder of a woman's recordings: one file a digit.
const recorded = "/usr/share/asterisk/sounds/en_US_f_Allison/digits/"

// readByHuman returns digits as a woman reads them over G.711, without a pause between them, and with 300 ms of line noise around them.
func readByHuman(t testing.TB, random *rand.Rand, number string) []int16 {
	t.Helper()
	noise := func(ms int) []int16 {
		out := make([]int16, 8*ms)
		for i := range out {
			out[i] = int16(12 * random.NormFloat64())
		}
		return out
	}
	out := noise(300)
	for _, digit := range strings.Split(number, "") {
		raw, err := os.ReadFile(recorded + digit + ".wav")
		if err != nil {
			t.Fatalf("no recordings of people: scripts/install-deps.sh test installs them on Debian: %v", err)
		}
		audio, err := pcm.ReadWAV(bytes.NewReader(raw), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, trimmed(audio.Samples)...)
		out = append(out, noise(30+random.IntN(100))...)
	}
	return telephone(t, append(out, noise(200)...))
}

// trimmed returns samples without the silence around them.
func trimmed(samples []int16) []int16 {
	loud := func(s int16) bool { return s > 500 || s < -500 }
	first := max(0, slices.IndexFunc(samples, loud)-400)
	last := len(samples)
	for last > first && !loud(samples[last-1]) {
		last--
	}
	return samples[first:min(last+400, len(samples))]
}

// telephone returns audio after encoding and decoding it with G.711.
func telephone(t testing.TB, audio []int16) []int16 {
	t.Helper()
	line, err := g711.PCMU().New()
	if err != nil {
		t.Fatal(err)
	}
	payload, err := line.Encode(nil, audio)
	if err != nil {
		t.Fatal(err)
	}
	heard, err := line.Decode(nil, payload)
	if err != nil {
		t.Fatal(err)
	}
	return heard
}

// number returns a random number of n digits.
func number(random *rand.Rand, n int) string {
	digits := make([]byte, n)
	for i := range digits {
		digits[i] = '0' + byte(random.IntN(10))
	}
	return string(digits)
}

// wrongDigits returns the edit distance of two numbers.
func wrongDigits(said, heard string) int {
	before := make([]int, len(heard)+1)
	for i := range before {
		before[i] = i
	}
	for i := range len(said) {
		now := make([]int, len(heard)+1)
		now[0] = i + 1
		for j := range len(heard) {
			now[j+1] = min(before[j+1], now[j]) + 1
			if same := before[j]; said[i] == heard[j] {
				now[j+1] = min(now[j+1], same)
			} else {
				now[j+1] = min(now[j+1], same+1)
			}
		}
		before = now
	}
	return before[len(heard)]
}

// digitErrors returns the share of wrong digits in groups of a woman's numbers, which are separate utterances.
func digitErrors(t testing.TB, r *pocketsphinx.Recognizer, numbers int, sizes []int, kind expect.Kind) float64 {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a fixed seed makes the measurement repeatable
	wrong, all := 0, 0
	for range numbers {
		for _, size := range sizes {
			said := number(random, size)
			heard := recognize(t, r, readByHuman(t, random, said), conversation.Hearing{Rate: 8000, Expect: expect.Answer{Kind: kind}})
			wrong += wrongDigits(said, expect.DigitsIn("en", heard))
			all += size
		}
	}
	return float64(wrong) / float64(all)
}

// TestExpectedDigits checks that a person's digits are recognized in groups, as callers read telephone numbers. In dictation, 70 percent of
// them are wrong.
func TestExpectedDigits(t *testing.T) {
	t.Parallel()
	if wrong := digitErrors(t, open(t, pocketsphinx.Config{}), 5, []int{3, 3, 4}, expect.Digits); wrong > 0.22 {
		t.Errorf("%.0f %% of digits are wrong", 100*wrong)
	}
}

func TestExpected(t *testing.T) {
	t.Parallel()
	r := open(t, pocketsphinx.Config{})
	for _, tt := range []struct {
		kind       expect.Kind
		said, want string
	}{
		{expect.Digits, "seven", "seven"},
		{expect.Digits, "double four, nine", "double four nine"},
		{expect.Digits, "My number is three nine two.", "my number is three nine two"},
		{expect.Digits, "Is there anything else that I can do for you?", "is there anything else that i can do for you"},
		{expect.YesNo, "That's right.", "that's right"},
		{expect.YesNo, "No, thank you.", "no thank you"},
		{expect.Date, "the twenty first of october", "the twenty first of october"},
		{expect.Spelling, "bravo, lima, november", "bravo lima november"},
	} {
		t.Run(tt.said, func(t *testing.T) {
			t.Parallel()
			heard := recognize(t, r, overTelephone(t, "rms", tt.said), conversation.Hearing{Rate: 8000, Expect: expect.Answer{Kind: tt.kind}})
			if heard != tt.want {
				t.Errorf("understood as %q, want %q", heard, tt.want)
			}
		})
	}
}
