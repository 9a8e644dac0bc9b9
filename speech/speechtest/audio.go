package speechtest

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/callwright/callwright/speech/tts"
)

// Speak synthesizes a whole speech. If that fails, it returns the samples so far with the error.
func Speak(ctx context.Context, s tts.Synthesizer, speech tts.Request) ([]int16, error) {
	stream, err := s.Synthesize(ctx, speech)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }()
	audio, err := drain(stream)
	if errors.Is(err, io.EOF) {
		return audio, nil
	}
	return audio, err
}

// drain reads a stream until it ends. The error is never nil, and io.EOF after a complete speech.
func drain(stream tts.Stream) (audio []int16, err error) {
	p := make([]int16, 333)
	for err == nil {
		var n int
		n, err = stream.Read(p)
		audio = append(audio, p[:n]...)
	}
	return audio, err
}

// level returns the root mean square of samples, as a share of full scale.
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
