// Package g711 is ITU-T G.711, the codec of the telephone network: one byte a sample at 8000 samples a second, by the
// mu-law of North America and Japan (PCMU) or the A-law of the rest of the world (PCMA).
package g711

import (
	"math/bits"

	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/sip"
)

// PCMU returns the engine of the mu-law, static payload type 0 (RFC 3551, section 4.5.14).
func PCMU() codec.Engine { return engine("PCMU", encodeMu, &muTable) }

// PCMA returns the engine of the A-law, static payload type 8 (RFC 3551, section 4.5.14).
func PCMA() codec.Engine { return engine("PCMA", encodeA, &aTable) }

func engine(name string, encode func(int16) byte, table *[256]int16) codec.Engine {
	c := &law{name: name, encode: encode, table: table} // it holds no state, so one serves every call
	return codec.Engine{Name: name, New: func() (sip.Codec, error) { return c, nil }}
}

// rate is that of the audio and of the RTP clock.
const rate = 8000

// law is one of the two laws.
type law struct {
	name   string
	encode func(int16) byte
	table  *[256]int16
}

// Name returns the encoding name of the SDP.
func (l *law) Name() string { return l.name }

// Rate returns the samples a second of the audio.
func (*law) Rate() int { return rate }

// Clock returns the ticks a second of the RTP timestamp.
func (*law) Clock() int { return rate }

// Encode appends one byte a sample. It never fails.
func (l *law) Encode(dst []byte, pcm []int16) ([]byte, error) {
	for _, s := range pcm {
		dst = append(dst, l.encode(s))
	}
	return dst, nil
}

// Decode appends one sample a byte. Every byte is a valid sample, so it never fails.
func (l *law) Decode(dst []int16, payload []byte) ([]int16, error) {
	for _, b := range payload {
		dst = append(dst, l.table[b])
	}
	return dst, nil
}

// A byte of either law is a sign, a segment of 3 bits and a step of 4 bits. The steps of a segment are equally wide, and
// twice as wide as those of the segment below (in the A-law segments 0 and 1 are alike). The recommendation counts in 14
// bits for the mu-law and in 13 for the A-law; here samples have 16 bits.
const (
	signBit  = 0x80
	steps    = 16   // of a segment
	muBias   = 33   // makes every segment of the mu-law begin at a power of two (G.711, table 2)
	muMost   = 8191 // of 14 bits, biased: what is louder is clipped
	aToggled = 0x55 // the A-law inverts its even bits (G.711, table 1)
)

// muTable and aTable are the samples of all bytes.
var (
	muTable = decodeTable(func(b byte) (negative bool, magnitude int) {
		segment, step := split(^b)
		return ^b&signBit != 0, ((2*step+muBias)<<segment - muBias) * 4
	})
	aTable = decodeTable(func(b byte) (negative bool, magnitude int) {
		b ^= aToggled
		segment, step := split(b)
		if segment == 0 {
			return b&signBit == 0, (2*step + 1) * 8
		}
		return b&signBit == 0, (2*step + 2*steps + 1) << (segment - 1) * 8
	})
)

// split returns the segment and the step of a byte whose bits are not inverted.
func split(b byte) (segment, step int) { return int(b >> 4 & 7), int(b & (steps - 1)) }

func decodeTable(meaning func(b byte) (negative bool, magnitude int)) (table [256]int16) {
	for b := range table {
		negative, magnitude := meaning(byte(b))
		if negative {
			magnitude = -magnitude
		}
		table[b] = int16(magnitude)
	}
	return table
}

// encodeMu returns the byte of the interval of G.711, table 2, that a sample is in.
func encodeMu(sample int16) byte {
	negative, magnitude := unsigned(sample)
	biased := min(magnitude/4+muBias, muMost)
	segment := bits.Len(uint(biased)) - 6
	code := byte(segment*steps | biased>>(segment+1)&(steps-1))
	if negative {
		code |= signBit
	}
	return ^code
}

// encodeA returns the byte of the interval of G.711, table 1, that a sample is in.
func encodeA(sample int16) byte {
	negative, magnitude := unsigned(sample)
	magnitude /= 8
	segment := max(bits.Len(uint(magnitude))-5, 0)
	code := byte(segment*steps | magnitude>>max(segment, 1)&(steps-1))
	if !negative {
		code |= signBit
	}
	return code ^ aToggled
}

// unsigned returns the sign and the magnitude of a sample. That of a negative one is one less, so that the intervals
// below zero mirror those above it.
func unsigned(sample int16) (negative bool, magnitude int) {
	if sample < 0 {
		return true, int(^sample)
	}
	return false, int(sample)
}
