package pcm

import "io"

// Source streams mono audio. Read fills p with the next samples and returns their number; it returns io.EOF after the last sample.
type Source interface {
	Read(p []int16) (int, error)
}

// Converter is a Source that resamples another Source.
type Converter struct {
	src   Source
	rate  *Resampler
	piece []int16 // buffer for reading src
	ready []int16 // resampled, including the samples already returned
	spent int     // number of samples of ready already returned
	err   error   // error that ends the stream once ready is empty
}

// Convert returns a Source that resamples src from one rate to another, both in Hz. It returns CodeBadRequest for a rate outside MinRate to
// MaxRate.
func Convert(src Source, from, to int) (*Converter, error) {
	r, err := NewResampler(from, to)
	if err != nil {
		return nil, err
	}
	return &Converter{src: src, rate: r, piece: make([]int16, FrameSamples(from))}, nil
}

// Read fills p with the next samples and returns their number. An error of the source is returned after all samples that precede it.
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
