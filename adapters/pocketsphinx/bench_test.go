package pocketsphinx_test

import (
	"testing"

	"github.com/callwright/callwright/adapters/pocketsphinx"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
)

// BenchmarkFinish measures the delay between the end of 1.4 s of speech and its words.
func BenchmarkFinish(b *testing.B) {
	for name, phrases := range map[string][]string{
		"hinted":   {"no thank you", "yes please", "connect me with a colleague"},
		"dictated": nil,
		"both":     {"yes please", "connect me with a colleague"},
	} {
		b.Run(name, func(b *testing.B) {
			r, err := pocketsphinx.New(pocketsphinx.Config{})
			if err != nil {
				b.Fatal(err)
			}
			audio := overTelephone(b, "slt", "No, thank you.")
			for b.Loop() {
				u, err := r.Listen(b.Context(), conversation.Hearing{Rate: 8000, Phrases: phrases})
				if err != nil {
					b.Fatal(err)
				}
				if err := u.Write(audio); err != nil {
					b.Fatal(err)
				}
				if _, err := u.Finish(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDigits measures the share of a person's digits that are wrong, read in groups of three and four, and one by one.
func BenchmarkDigits(b *testing.B) {
	for name, kind := range map[string]expect.Kind{"expected": expect.Digits, "dictated": expect.Free} {
		b.Run(name, func(b *testing.B) {
			r, err := pocketsphinx.New(pocketsphinx.Config{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				b.ReportMetric(100*digitErrors(b, r, 10, []int{3, 3, 4}, kind), "%wrong-in-groups")
				b.ReportMetric(100*digitErrors(b, r, 20, []int{1}, kind), "%wrong-alone")
			}
		})
	}
}

// FuzzHints checks that Listen accepts any text as a hint.
func FuzzHints(f *testing.F) {
	r, err := pocketsphinx.New(pocketsphinx.Config{})
	if err != nil {
		f.Fatal(err)
	}
	for _, hint := range []string{"yes please", "7 35'", "callwright", "\xff'’", "a\nTRANSITION 0 1 1 b"} {
		f.Add(hint)
	}
	f.Fuzz(func(t *testing.T, hint string) {
		u, err := r.Listen(t.Context(), conversation.Hearing{Rate: 8000, Phrases: []string{hint}})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
