package agentstest

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"

	"go.uber.org/goleak"

	"github.com/callwright/callwright/agents/conversation"
)

// promptly bounds what must happen at once.
const promptly = 10 * time.Second

// sequential runs a case and checks that it leaves no goroutine behind. It cannot tell its own goroutines from others', so the
// suite must not run in parallel with other tests.
func sequential(t *testing.T, name string, run func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		before := goleak.IgnoreCurrent()
		t.Cleanup(func() { goleak.VerifyNone(t, before) })
		run(t)
	})
}

// soon checks that a function returns at once.
func soon(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(promptly):
		t.Fatalf("%s hangs", what)
	}
}

// Speak synthesizes a whole speech. If that fails, it returns the samples so far with the error.
func Speak(ctx context.Context, s conversation.Synthesizer, speech conversation.Speech) ([]int16, error) {
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
func drain(stream conversation.AudioStream) (audio []int16, err error) {
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

// words returns the words of a text in lower case, without punctuation.
func words(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '\'' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}
