package audiofile

import (
	"errors"
	"math"
	"math/bits"
)

// The limits of the codebooks of a Vorbis stream. Real encoders need about a tenth of these limits.
const (
	maxEntries    = 1 << 15 // entries of one codebook
	maxAllEntries = 1 << 17
	maxDimensions = 256
	maxValues     = 1 << 21 // sum of entries times dimensions over the codebooks that have a lookup table
)

var errCodebook = errors.New("a codebook is invalid or too large")

// checkSetup checks the codebooks of a setup header (Vorbis I, section 3.2.1); b is the header without its first 7 bytes. The check is
// necessary because the library would allocate the sizes that the codebooks claim, and loop forever on an incomplete code.
func checkSetup(b []byte) error {
	r := &bitReader{b: b}
	entries, values := 0, 0
	for range r.read(8) + 1 {
		n, v, err := checkCodebook(r)
		if err != nil {
			return err
		}
		if entries, values = entries+n, values+v; entries > maxAllEntries || values > maxValues {
			return errCodebook
		}
	}
	return nil
}

// checkCodebook reads one codebook. It returns the number of its entries, and as values the product of entries and dimensions, or 0 if the
// codebook has no lookup table. It returns an error if the codebook is invalid or too large.
func checkCodebook(r *bitReader) (entries, values int, err error) {
	pattern, dimensions := r.read(24), r.read(16)
	entries = r.read(24)
	if pattern != 0x564342 || dimensions < 1 || dimensions > maxDimensions || entries < 1 || entries > maxEntries {
		return 0, 0, errCodebook
	}
	lengths := readLengths
	if r.read(1) == 1 {
		lengths = readOrdered
	}
	used, space, ok := lengths(r, entries)
	// The codes must fill the code space exactly, except in a codebook with a single used entry.
	if !ok || used == 0 || used > 1 && space != 1<<32 {
		return 0, 0, errCodebook
	}
	switch lookup := r.read(4); {
	case lookup == 1:
		values = int(math.Floor(math.Pow(float64(entries), 1/float64(dimensions))))
	case lookup == 2:
		values = entries * dimensions
	case lookup > 2:
		return 0, 0, errCodebook
	default:
		return entries, 0, r.err()
	}
	r.skip(64)
	width := r.read(4) + 1
	r.skip(1 + width*values)
	return entries, entries * dimensions, r.err()
}

// readLengths reads the lengths of the codes, one by one. It returns the number of used entries, and as space the part of the code space
// 1<<32 that the codes fill.
func readLengths(r *bitReader, entries int) (used int, space uint64, ok bool) {
	sparse := r.read(1) == 1
	for range entries {
		if !sparse || r.read(1) == 1 {
			used++
			space += 1 << (31 - r.read(5))
		}
	}
	return used, space, r.err() == nil
}

// readOrdered reads lengths in their ordered form: for each length, the number of its codes. It returns the same results as readLengths.
func readOrdered(r *bitReader, entries int) (used int, space uint64, ok bool) {
	for length := r.read(5) + 1; used < entries; length++ {
		n := r.read(bits.Len(uint(entries - used)))
		if used += n; used > entries || length > 32 || r.err() != nil {
			return 0, 0, false
		}
		space += uint64(n) << (32 - length)
	}
	return used, space, true
}

// bitReader reads numbers, lowest bit first. It reads bits past the end as 0; the method err then returns an error.
type bitReader struct {
	b  []byte
	at int // position in bits
}

func (r *bitReader) read(n int) int {
	v := 0
	for i := range n {
		if at := r.at + i; at/8 < len(r.b) {
			v |= int(r.b[at/8]>>(at%8)&1) << i
		}
	}
	r.at += n
	return v
}

func (r *bitReader) skip(n int) { r.at += n }

func (r *bitReader) err() error {
	if r.at > len(r.b)*8 {
		return errors.New("the setup header is cut off")
	}
	return nil
}
