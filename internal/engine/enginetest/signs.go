package enginetest

import "strings"

// The sound of Signs: four loud samples of alternating signs mark a character, and 16 softer ones have its bits as their signs.
const (
	signMark   = 20_000
	signBit    = 8_000
	signLimit  = 15_000 // between both
	signBits   = 16
	signLength = 320 // samples of a character
)

// Signs returns audio that encodes the text of a recognizer's test so that it survives mu-law and A-law at any rate, but no resampling. It
// encodes characters up to U+FFFF, each by 320 samples.
func Signs(text string) []int16 { return SignsOf(text, signLength) }

// SignsOf is Signs with another number of samples of a character, which must be at least 20.
func SignsOf(text string, length int) []int16 {
	var out []int16
	for _, r := range text {
		at := len(out)
		out = append(out, make([]int16, length)...)
		for i := range 4 {
			out[at+i] = signMark * int16(1-2*(i%2))
		}
		for i := range signBits {
			out[at+4+i] = signBit * int16(1-2*(int(r)>>i&1))
		}
	}
	return out
}

// TextOfSigns decodes the text of audio by Signs. It omits characters that are cut off, and trims spaces at both ends.
func TextOfSigns(samples []int16) string {
	var b strings.Builder
	for i := 0; i+4+signBits <= len(samples); i++ {
		if samples[i] < signLimit || samples[i+1] > -signLimit || samples[i+2] < signLimit || samples[i+3] > -signLimit {
			continue
		}
		var r rune
		for bit := range signBits {
			if samples[i+4+bit] < 0 {
				r |= 1 << bit
			}
		}
		b.WriteRune(r)
		i += 3 + signBits
	}
	return strings.TrimSpace(b.String())
}
