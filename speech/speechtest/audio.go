package speechtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/callwright/callwright/speech/tts"
)

// maxSamples is the maximum number of samples that Speak reads: 32 MB, or more than 5 minutes at 48 kHz.
const maxSamples = 1 << 24

// Speak synthesizes a text and returns all samples. If the synthesis fails, or the stream has more than 2^24 samples, it returns the
// samples so far with the error.
func Speak(ctx context.Context, s tts.Synthesizer, speech tts.Request) ([]int16, error) {
	return speak(ctx, s, speech, maxSamples)
}

func speak(ctx context.Context, s tts.Synthesizer, speech tts.Request, limit int) ([]int16, error) {
	stream, err := s.Synthesize(ctx, speech)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }()
	audio, err := drain(stream, limit)
	if errors.Is(err, io.EOF) {
		return audio, nil
	}
	return audio, err
}

// maxEmptyReads is the number of consecutive reads without samples or an error that drain tolerates.
const maxEmptyReads = 1000

// drain reads a stream until Read returns an error or violates its contract, or until the stream has returned more than limit samples. The
// error is never nil; it is io.EOF if the audio is complete.
func drain(stream tts.Stream, limit int) (audio []int16, err error) {
	p, empty := make([]int16, 333), 0
	for err == nil {
		var n int
		n, err = stream.Read(p)
		switch {
		case n < 0 || n > len(p):
			return audio, fmt.Errorf("Read returns %d samples of at most %d", n, len(p))
		case n > 0:
			empty = 0
		case err == nil:
			if empty++; empty > maxEmptyReads {
				return audio, fmt.Errorf("Read has returned neither samples nor an error %d times", empty)
			}
		}
		if audio = append(audio, p[:n]...); len(audio) > limit {
			return audio, fmt.Errorf("the stream is endless: it has not ended after %d samples", limit)
		}
	}
	return audio, err
}

// level returns the root mean square of samples as a fraction of full scale.
func level(samples []int16) float64 {
	if len(samples) == 0 {
		return 0
	}
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum/float64(len(samples))) / 32768
}
