package pcm

import "math/bits"

// A byte of either law of ITU-T G.711 consists of a sign, a segment of 3 bits and a step of 4 bits. The steps of a segment are equally
// wide, and twice as wide as the steps of the segment below (except that segments 0 and 1 of the A-law are alike). The recommendation uses
// 14 bits for the mu-law and 13 for the A-law; samples in this package have 16 bits.
const (
	signBit  = 0x80
	lawSteps = 16   // steps in a segment
	muBias   = 33   // added so that every mu-law segment begins at a power of two (G.711, table 2)
	muMost   = 8191 // maximum of 14 bits including muBias: louder samples are clipped
	aToggled = 0x55 // the A-law inverts its even bits (G.711, table 1)
)

// muTable and aTable map each byte to its sample.
var (
	muTable = lawTable(func(b byte) (negative bool, magnitude int) {
		segment, step := splitLaw(^b)
		return ^b&signBit != 0, ((2*step+muBias)<<segment - muBias) * 4
	})
	aTable = lawTable(func(b byte) (negative bool, magnitude int) {
		b ^= aToggled
		segment, step := splitLaw(b)
		if segment == 0 {
			return b&signBit == 0, (2*step + 1) * 8
		}
		return b&signBit == 0, (2*step + 2*lawSteps + 1) << (segment - 1) * 8
	})
)

// splitLaw returns the segment and the step of a byte whose bits are not inverted.
func splitLaw(b byte) (segment, step int) { return int(b >> 4 & 7), int(b & (lawSteps - 1)) }

func lawTable(meaning func(b byte) (negative bool, magnitude int)) (table [256]int16) {
	for b := range table {
		negative, magnitude := meaning(byte(b))
		if negative {
			magnitude = -magnitude
		}
		table[b] = int16(magnitude)
	}
	return table
}

// AppendMuLaw appends samples to dst in the mu-law of ITU-T G.711, one byte per sample.
func AppendMuLaw(dst []byte, samples []int16) []byte {
	for _, s := range samples {
		dst = append(dst, encodeMu(s))
	}
	return dst
}

// AppendALaw appends samples to dst in the A-law of ITU-T G.711, one byte per sample.
func AppendALaw(dst []byte, samples []int16) []byte {
	for _, s := range samples {
		dst = append(dst, encodeA(s))
	}
	return dst
}

// FromMuLaw decodes mu-law bytes and appends the samples to dst. Every byte is valid.
func FromMuLaw(dst []int16, raw []byte) []int16 {
	for _, b := range raw {
		dst = append(dst, muTable[b])
	}
	return dst
}

// FromALaw decodes A-law bytes and appends the samples to dst. Every byte is valid.
func FromALaw(dst []int16, raw []byte) []int16 {
	for _, b := range raw {
		dst = append(dst, aTable[b])
	}
	return dst
}

// encodeMu returns the mu-law byte of the interval that contains a sample (G.711, table 2).
func encodeMu(sample int16) byte {
	negative, magnitude := unsigned(sample)
	biased := min(magnitude/4+muBias, muMost)
	segment := bits.Len(uint(biased)) - 6
	code := byte(segment*lawSteps | biased>>(segment+1)&(lawSteps-1))
	if negative {
		code |= signBit
	}
	return ^code
}

// encodeA returns the A-law byte of the interval that contains a sample (G.711, table 1).
func encodeA(sample int16) byte {
	negative, magnitude := unsigned(sample)
	magnitude /= 8
	segment := max(bits.Len(uint(magnitude))-5, 0)
	code := byte(segment*lawSteps | magnitude>>max(segment, 1)&(lawSteps-1))
	if !negative {
		code |= signBit
	}
	return code ^ aToggled
}

// unsigned returns the sign and the magnitude of a sample. The magnitude of a negative sample is reduced by one, so that the intervals
// below zero mirror the intervals above zero.
func unsigned(sample int16) (negative bool, magnitude int) {
	if sample < 0 {
		return true, int(^sample)
	}
	return false, int(sample)
}
