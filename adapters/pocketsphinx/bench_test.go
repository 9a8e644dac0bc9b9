package pocketsphinx_test

import (
	"testing"

	"github.com/callwright/callwright/adapters/pocketsphinx"
	"github.com/callwright/callwright/agents/conversation"
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
