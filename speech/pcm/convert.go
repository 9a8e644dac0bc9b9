package pcm

import "io"

// Source streams mono audio: Read fills p with the next samples and returns their number; io.EOF after the last.
type Source interface {
	Read(p []int16) (int, error)
}

// Converter is a source at another rate.
type Converter struct {
	src   Source
	rate  *Resampler
	piece []int16 // as read
	ready []int16 // converted and not yet returned
	spent int     // number of samples of ready already returned
	err   error   // error that ends the stream once ready is empty
}

// Convert changes the rate of a source, from and to in samples a second. It returns CodeBadRequest for a rate outside MinRate to
// MaxRate.
func Convert(src Source, from, to int) (*Converter, error) {
	r, err := NewResampler(from, to)
	if err != nil {
		return nil, err
	}
	return &Converter{src: src, rate: r, piece: make([]int16, FrameSamples(from))}, nil
}

// Read fills p with the next samples and returns their number. The source's error comes after all the samples before it.
func (c *Converter) Read(p []int16) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for c.spent == len(c.ready) {
		if c.err != nil {
			return 0, c.err
		}
		c.fill()
	}
	n := copy(p, c.ready[c.spent:])
	c.spent += n
	return n, nil
}

func (c *Converter) fill() {
	var n int
	n, c.err = c.src.Read(c.piece)
	c.ready, c.spent = c.rate.Process(c.ready[:0], c.piece[:n]), 0
	if c.err == io.EOF { //nolint:errorlint // a source ends with io.EOF itself
		c.ready = c.rate.Flush(c.ready)
	}
}
