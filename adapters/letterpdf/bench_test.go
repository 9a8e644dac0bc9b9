package letterpdf_test

import (
	"fmt"
	"testing"
)

// BenchmarkLetter renders letters for 1 and for 100 numbers, unsigned and signed.
func BenchmarkLetter(b *testing.B) {
	r, c := newRenderer(b), certificate()
	for _, numbers := range []int{1, 100} {
		text := letter(numbers)
		b.Run(fmt.Sprintf("numbers=%d", numbers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.RenderLetter(b.Context(), text); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("numbers=%d/signed", numbers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.RenderSigned(b.Context(), text, c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
