package pocketsphinx_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/adapters/pocketsphinx"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

func TestRecognizer(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	agentstest.RunRecognizer(t, agentstest.RecognizerHarness{
		New:   func(t *testing.T) conversation.Recognizer { return open(t, pocketsphinx.Config{}) },
		Speak: func(t *testing.T, text string) ([]int16, int) { return overTelephone(t, "slt", text), 8000 },
	})
}

// TestBatch tests the sessions that a conversation has with this recognizer.
func TestBatch(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	agentstest.RunStreamer(t, func(t *testing.T) conversation.Streamer { return conversation.Batch(open(t, pocketsphinx.Config{})) },
		agentstest.RecognizerHarness{
			Speak: func(t *testing.T, text string) ([]int16, int) { return overTelephone(t, "slt", text), 8000 },
		})
}

func open(t *testing.T, config pocketsphinx.Config) *pocketsphinx.Recognizer {
	t.Helper()
	r, err := pocketsphinx.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// overTelephone returns text spoken by a flite voice at 8 kHz, after encoding and decoding it with G.711.
func overTelephone(t testing.TB, voice, text string) []int16 {
	t.Helper()
	s, err := flite.New(flite.Config{Voice: voice})
	if err != nil {
		t.Fatal(err)
	}
	spoken, err := speechtest.Speak(t.Context(), s, tts.Request{Text: text, Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	return telephone(t, spoken)
}

func hear(t testing.TB, r *pocketsphinx.Recognizer, audio []int16, phrases ...string) string {
	t.Helper()
	return recognize(t, r, audio, conversation.Hearing{Rate: 8000, Phrases: phrases})
}

func recognize(t testing.TB, r *pocketsphinx.Recognizer, audio []int16, h conversation.Hearing) string {
	t.Helper()
	u, err := r.Listen(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Write(audio); err != nil {
		t.Fatal(err)
	}
	heard, err := u.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return heard.Text
}

func TestHints(t *testing.T) {
	t.Parallel()
	r := open(t, pocketsphinx.Config{})
	tests := map[string]struct {
		said    string
		phrases []string
		want    string
	}{
		"written with digits":        {"nine seven three", []string{"973", "413"}, "973"},
		"word of two words":          {"Hello, this is Callwright.", []string{"Hello this is Callwright"}, "Hello this is Callwright"},
		"one after the other":        {"Yes please. Good bye.", []string{"yes please", "goodbye", "no"}, "yes please goodbye"},
		"as the hint has it":         {"I'd like that", []string{"I’d LIKE that!"}, "I’d LIKE that!"},
		"beside an impossible word":  {"no thank you", []string{"the zxqvbrtl", "No thank you"}, "No thank you"},
		"dictated for want of hints": {"Is there anything else that I can do for you?", nil, "is there anything else that i can do for you"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, voice := range []string{"slt", "rms"} {
				if got := hear(t, r, overTelephone(t, voice, tt.said), tt.phrases...); got != tt.want {
					t.Errorf("%q by %s is understood as %q, want %q", tt.said, voice, got, tt.want)
				}
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]pocketsphinx.Config{
		"no program": {Path: filepath.Join(t.TempDir(), "pocketsphinx_batch")},
		"no model":   {Model: t.TempDir()},
	} {
		_, err := pocketsphinx.New(config)
		if callwright.CodeOf(err) != callwright.CodeUnavailable || !strings.Contains(err.Error(), "apt-get install pocketsphinx pocketsphinx-en-us") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestListenRefuses(t *testing.T) {
	t.Parallel()
	r := open(t, pocketsphinx.Config{})
	if _, err := r.Listen(t.Context(), conversation.Hearing{Rate: 8000, Language: "de"}); callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("German: %v", err)
	}
	u, err := r.Listen(t.Context(), conversation.Hearing{Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	_, finished := u.Finish(t.Context())
	for what, err := range map[string]error{"write": u.Write(make([]int16, 1)), "finish": finished} {
		if callwright.CodeOf(err) != callwright.CodeInvalidState {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
}

// stuck returns a recognizer whose program is a shell script with the given body.
func stuck(t *testing.T, body string) *pocketsphinx.Recognizer {
	t.Helper()
	return open(t, pocketsphinx.Config{Path: enginetest.Script(t, "pocketsphinx_batch", body)})
}

func TestKillsTheProgram(t *testing.T) { //nolint:paralleltest // a fork elsewhere would keep the script busy
	started := filepath.Join(t.TempDir(), "started")
	r := stuck(t, "echo $$ > "+started+"; exec sleep 600")
	ctx, cancel := context.WithCancel(t.Context())
	u, err := r.Listen(ctx, conversation.Hearing{Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Write(make([]int16, 8000)); err != nil {
		t.Fatal(err)
	}
	ticks := time.NewTicker(time.Millisecond)
	defer ticks.Stop()
	go func() {
		for range ticks.C {
			if pid, err := os.ReadFile(started); err == nil && len(pid) > 0 || t.Context().Err() != nil {
				cancel()
				return
			}
		}
	}()
	if _, err := u.Finish(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	pid, err := os.ReadFile(started)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/self"); err == nil {
		if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the program still runs: %v", err)
		}
	}
}

func TestProgramThatFails(t *testing.T) { //nolint:paralleltest // a fork elsewhere would keep the script busy
	u, err := stuck(t, "echo secret detail >&2; exit 1").Listen(t.Context(), conversation.Hearing{Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Write(make([]int16, 8000)); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Finish(t.Context()); callwright.CodeOf(err) != callwright.CodeUnavailable || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}
