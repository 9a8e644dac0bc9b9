package pocketsphinx_test

import (
	"testing"

	"github.com/callwright/callwright/adapters/pocketsphinx"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
)

var yesNo = conversation.Hearing{Rate: 8000, Expect: expect.Answer{Kind: expect.YesNo}}

// TestOtherWords checks that short words that resemble a consent or a refusal are dictated.
func TestOtherWords(t *testing.T) {
	t.Parallel()
	r := open(t, pocketsphinx.Config{})
	for _, tt := range []struct {
		voice, said string
		hearing     conversation.Hearing
	}{
		{"rms", "hello", yesNo},
		{"rms", "excuse me", yesNo},
		{"rms", "seven", yesNo},
		{"rms", "thursday", yesNo},
		{"slt", "two zero two", yesNo},
		{"rms", "I don't know", yesNo},
	} {
		t.Run(tt.said, func(t *testing.T) {
			t.Parallel()
			audio := overTelephone(t, tt.voice, tt.said)
			if heard, free := recognize(t, r, audio, tt.hearing), hear(t, r, audio); heard != free {
				t.Errorf("understood as %q with hints, and else as %q", heard, free)
			}
		})
	}
}

// BenchmarkYesNo measures the share of consents and refusals that are understood exactly, and the share of other short words and sentences
// whose dictation is replaced, if consent or refusal is expected. About half of the other words are no competitors.
func BenchmarkYesNo(b *testing.B) {
	answers := []string{
		"yes please", "yep", "sure", "okay", "of course", "absolutely", "correct", "that's right", "right", "i do", "go ahead", "no",
		"no thanks", "no thank you", "nope", "not really", "i don't", "not yet", "that's wrong",
	}
	others := []string{
		"hello", "excuse me", "seven", "thursday", "two zero two", "what", "tomorrow", "parking", "stop", "at half past nine",
		"cello", "marble", "window", "garden", "bicycle", "noodles", "snow", "north", "thanks", "where are you located",
	}
	for _, voice := range []string{"slt", "rms", "awb", "kal"} {
		b.Run(voice, func(b *testing.B) {
			r, err := pocketsphinx.New(pocketsphinx.Config{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				right, replaced := 0, 0
				for _, answer := range answers {
					if recognize(b, r, overTelephone(b, voice, answer), yesNo) == answer {
						right++
					}
				}
				for _, other := range others {
					audio := overTelephone(b, voice, other)
					if recognize(b, r, audio, yesNo) != hear(b, r, audio) {
						replaced++
					}
				}
				b.ReportMetric(100*float64(right)/float64(len(answers)), "%right")
				b.ReportMetric(100*float64(replaced)/float64(len(others)), "%replaced")
			}
		})
	}
}
