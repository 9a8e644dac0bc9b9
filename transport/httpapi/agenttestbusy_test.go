package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/run"
)

// slowReads blocks heavy reads of runs until a channel is closed.
type slowReads struct {
	mu   sync.Mutex
	hold chan struct{} // reads wait until it is closed; nil means no wait
	held chan struct{} // receives an element for each waiting read
}

func (s *slowReads) wait(ctx context.Context) {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold == nil {
		return
	}
	s.held <- struct{}{}
	select {
	case <-hold:
	case <-ctx.Done():
	}
}

// slowRuns is a store whose reads for analytics and for rescoring are blocked by slowReads.
type slowRuns struct {
	agentteststore.Store

	slow *slowReads
}

func (s slowRuns) EachEnded(ctx context.Context, org callwright.OrgID, w run.Window, f func(analytics.Run)) error {
	s.slow.wait(ctx)
	return s.Store.EachEnded(ctx, org, w, f)
}

func (s slowRuns) FindRuns(ctx context.Context, org callwright.OrgID, f run.Filter) ([]run.Run, error) {
	if f.Scenario != "" && len(f.States) > 1 {
		s.slow.wait(ctx)
	}
	return s.Store.FindRuns(ctx, org, f)
}

// TestHeavyReadsTakeTurns checks that a second heavy read of the same kind by an organization is refused with Retry-After if the first does
// not finish. Analytics and rescoring are different kinds.
func TestHeavyReadsTakeTurns(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	numbers, scored := w.fill("/v1/agent-testing/analytics/$pathway"), w.fill("/v1/agent-testing/scenarios/$scenario/rescore")
	targets := map[string]string{
		numbers: "GET", numbers + "/enhanced": "GET", w.fill("/v1/agent-testing/simulation-sets/$set"): "GET", scored: "POST",
	}
	ask := func(target string) (status int, header http.Header, body string) {
		r := httptest.NewRequestWithContext(t.Context(), targets[target], target, nil)
		r.Header.Set("Authorization", w.key)
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		return answer.Code, answer.Header(), answer.Body.String()
	}
	hold, held := make(chan struct{}), make(chan struct{}, 2)
	h.slow.mu.Lock()
	h.slow.hold, h.slow.held = hold, held
	h.slow.mu.Unlock()
	var first, second sync.WaitGroup
	for _, target := range []string{numbers, scored} {
		first.Go(func() {
			if status, _, body := ask(target); status != http.StatusOK {
				t.Errorf("%s: the first gets %d %s", target, status, body)
			}
		})
		<-held
	}
	for target := range targets {
		second.Go(func() {
			status, header, body := ask(target)
			if status != http.StatusTooManyRequests || header.Get("Retry-After") == "" || !strings.Contains(body, "too many test runs are being read") {
				t.Errorf("%s: the second gets %d %v %s", target, status, header, body)
			}
		})
	}
	second.Wait()
	close(hold)
	first.Wait()
}
