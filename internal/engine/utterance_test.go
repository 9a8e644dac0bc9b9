package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine"
)

// listen starts an utterance of audio at 8 kHz. The engine receives at most about a second of it, at 16 kHz.
func listen(ctx context.Context, t *testing.T, recognize func(context.Context, []int16) (string, error)) conversation.Utterance {
	t.Helper()
	u, err := engine.Listen(ctx, 8000, engine.Ear{Rate: 16000, Longest: time.Second, Recognize: recognize})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestListen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		samples     int
		least, most int // limits of the samples for the engine; 0 means that the engine is not called
		text        string
	}{
		"nothing":     {0, 0, 0, ""},
		"no word":     {790, 0, 0, ""},
		"a word":      {800, 1600, 1600, "words"},
		"half":        {4000, 8000, 8000, "words"},
		"the longest": {8000, 16000, 16000, "words"},
		"too long":    {80000, 16000, 16400, "words"}, // includes the whole piece that exceeds the limit
	} {
		heard := 0
		u := listen(t.Context(), t, func(_ context.Context, audio []int16) (string, error) {
			heard = len(audio)
			return "words", nil
		})
		for rest := c.samples; rest > 0; rest -= 160 {
			if err := u.Write(make([]int16, min(rest, 160))); err != nil {
				t.Fatal(err)
			}
		}
		got, err := u.Finish(t.Context())
		if err != nil || got.Text != c.text || heard < c.least || heard > c.most {
			t.Errorf("%s: %q from %d samples, %v", name, got.Text, heard, err)
		}
		_, again := u.Finish(t.Context())
		for what, err := range map[string]error{"Write": u.Write([]int16{1}), "Finish": again} {
			if callwright.CodeOf(err) != callwright.CodeInvalidState {
				t.Errorf("%s: %s after the end: %v", name, what, err)
			}
		}
		if err := errors.Join(u.Close(), u.Close()); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
	}
}

func TestListenRefuses(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if u, err := engine.Listen(ctx, 8000, engine.Ear{Rate: 16000}); u != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	if u, err := engine.Listen(t.Context(), 0, engine.Ear{Rate: 16000}); u != nil || callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("no such rate: %v", err)
	}
}

// TestRecognitionEnds checks that the context of Recognize ends when the context of Listen or of Finish ends.
func TestRecognitionEnds(t *testing.T) {
	t.Parallel()
	for name, which := range map[string]func(ofListen, ofFinish context.CancelFunc) context.CancelFunc{
		"with Listen's context": func(ofListen, _ context.CancelFunc) context.CancelFunc { return ofListen },
		"with Finish's context": func(_, ofFinish context.CancelFunc) context.CancelFunc { return ofFinish },
	} {
		listening, endListen := context.WithCancel(t.Context())
		finishing, endFinish := context.WithCancel(t.Context())
		end := which(endListen, endFinish)
		u := listen(listening, t, func(ctx context.Context, _ []int16) (string, error) {
			end()
			<-ctx.Done()
			return "", ctx.Err()
		})
		if err := u.Write(make([]int16, 4000)); err != nil {
			t.Fatal(err)
		}
		if _, err := u.Finish(finishing); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		endListen()
		endFinish()
		if err := u.Write(nil); err == nil {
			t.Errorf("%s: it takes more audio", name)
		}
	}
}
