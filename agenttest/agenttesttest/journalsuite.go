package agenttesttest

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
)

// RunJournal tests an engine.Journal. newRun creates a run with an empty journal, and returns a function that opens the journal. Each call
// of this function represents another process that resumes the run.
func RunJournal(t *testing.T, newRun func(t *testing.T) (open func() engine.Journal)) {
	t.Helper()
	key := func(n int) string { return strings.Repeat("0123456789abcdef", 4) + fmt.Sprintf("-%d", n) }
	answers := func(t *testing.T, open func() engine.Journal, want int) map[string][]byte {
		t.Helper()
		got, err := open().Answers(t.Context())
		if err != nil || len(got) != want {
			t.Fatalf("there are %d answers, want %d, error %v", len(got), want, err)
		}
		return got
	}
	t.Run("IsEmptyAtFirst", func(t *testing.T) { answers(t, newRun(t), 0) })
	t.Run("KeepsAnswers", func(t *testing.T) {
		open := newRun(t)
		j := open()
		text := func(n int) []byte { return fmt.Appendf(nil, `{"n":%d,"text":"\u0000 ü <&>"}`, n) }
		for n := range 20 {
			answer := text(n)
			if err := j.Append(t.Context(), key(n), answer); err != nil {
				t.Fatal(err)
			}
			clear(answer) // the journal must not share memory with the answer
		}
		for n := range 20 {
			clear(answers(t, open, 20)[key(n)])
		}
		for n, got := 0, answers(t, open, 20); n < 20; n++ {
			if !bytes.Equal(got[key(n)], text(n)) {
				t.Errorf("the answer %d is %q", n, got[key(n)])
			}
		}
	})
	t.Run("KeepsLargeAnswers", func(t *testing.T) {
		open := newRun(t)
		large := bytes.Repeat([]byte("x"), engine.MaxAnswer)
		if err := open().Append(t.Context(), key(0), large); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(answers(t, open, 1)[key(0)], large) {
			t.Error("the answer is another one")
		}
	})
	t.Run("TakesAKeyOnce", func(t *testing.T) {
		open := newRun(t)
		j := open()
		if err := j.Append(t.Context(), key(0), []byte("first")); err != nil {
			t.Fatal(err)
		}
		if err := j.Append(t.Context(), key(0), []byte("second")); callwright.CodeOf(err) != callwright.CodeConflict {
			t.Errorf("the second answer with a key: %v", err)
		}
		if got := string(answers(t, open, 1)[key(0)]); got != "first" {
			t.Errorf("the answer is %q", got)
		}
	})
	t.Run("TellsRunsApart", func(t *testing.T) {
		one, other := newRun(t), newRun(t)
		for _, open := range []func() engine.Journal{one, other} {
			if err := open().Append(t.Context(), key(0), []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		answers(t, one, 1)
	})
	t.Run("SideBySide", func(t *testing.T) {
		open := newRun(t)
		j := open()
		var wait sync.WaitGroup
		for n := range 16 {
			wait.Go(func() {
				if err := j.Append(t.Context(), key(n), []byte("x")); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		answers(t, open, 16)
	})
}
