package call_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// lines collects log lines. It is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// failing is a brain that logs with its context, as models and tools do, and then fails.
type failing struct{ log *slog.Logger }

func (f failing) Respond(ctx context.Context, _ conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		f.log.WarnContext(ctx, "a tool of the brain failed")
		yield(nil, errors.New("no model"))
	}
}

// TestLinesHaveTheCall checks that the log lines of a call contain the call's id once, both the service's own line and a line that a brain
// logs with its context.
func TestLinesHaveTheCall(t *testing.T) {
	t.Parallel()
	logged := &lines{}
	log := slog.New(callwright.LogHandler(slog.NewTextHandler(logged, nil)))
	inHouseWith(t, func(t *testing.T, h *house) {
		c := h.create(agents.Agent{})
		h.ended(c.ID)
		for _, want := range []string{"brain failed", "a tool of the brain failed"} {
			found := false
			for line := range strings.SplitSeq(logged.all(), "\n") {
				if strings.Contains(line, want) {
					found = true
					if strings.Count(line, "call_id="+c.ID) != 1 {
						t.Errorf("logged %s", line)
					}
				}
			}
			if !found {
				t.Errorf("%q is not logged: %s", want, logged.all())
			}
		}
	}, func(c *call.Config) {
		c.Logger = log
		c.NewBrain = func(context.Context, call.Call) (conversation.Brain, error) { return failing{log}, nil }
	})
}
