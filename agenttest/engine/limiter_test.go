package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
)

// service is a model that answers after a second and counts concurrent calls. It rate limits a call if more calls than the field most
// allows are active.
type service struct {
	agentstest.Model

	mu         sync.Mutex
	most       int           // 0 means no limit
	retryAfter time.Duration // in a rate limit failure
	active     int
	peak       int
	begun      []time.Duration // start times of the calls, since start
	limited    int
	start      time.Time
}

func newService(most int, retryAfter time.Duration) *service {
	s := &service{most: most, retryAfter: retryAfter, start: time.Now()}
	s.Answers = func(ctx context.Context, _ llm.Question) (string, error) {
		s.mu.Lock()
		s.active++
		s.peak = max(s.peak, s.active)
		s.begun = append(s.begun, time.Since(s.start))
		over := s.most > 0 && s.active > s.most
		if over {
			s.limited++
		}
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.active--
		}()
		if over {
			time.Sleep(10 * time.Millisecond)
			return "", &llm.Failure{Class: llm.ClassRateLimited, Message: "slow down", RetryAfter: s.retryAfter}
		}
		select {
		case <-time.After(time.Second):
			return "{}", nil
		case <-ctx.Done():
			return "", &llm.Failure{Class: llm.ClassTransient, Message: "ended", Cause: ctx.Err()}
		}
	}
	return s
}

// flood makes the given number of concurrent calls, and returns the errors of the calls that failed.
func flood(ctx context.Context, m llm.Model, calls int) []error {
	var wait sync.WaitGroup
	errs := make([]error, calls)
	for i := range calls {
		wait.Go(func() { _, errs[i] = m.Answer(ctx, llm.Question{}) })
	}
	wait.Wait()
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

func TestLimiterGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(0, 0)
		l := engine.NewLimiter(s, engine.LimiterConfig{Begin: 2, Most: 5})
		if errs := flood(t.Context(), l, 100); len(errs) > 0 {
			t.Error(errs)
		}
		if s.peak != 5 || l.Limit("") != 5 {
			t.Errorf("at most %d calls were made at once, the limit is %d", s.peak, l.Limit(""))
		}
		// After 2 successful calls, which take one second, the limit grows to 3, after 3 more calls to 4, and so on.
		at := map[time.Duration]int{}
		for _, b := range s.begun {
			at[b]++
		}
		if fmt.Sprint(at[0], at[time.Second], at[2*time.Second], at[3*time.Second]) != "2 3 4 5" {
			t.Errorf("the calls began at %v", at)
		}
	})
}

func TestLimiterHalvesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(8, 3*time.Second)
		l := engine.NewLimiter(s, engine.LimiterConfig{Begin: 16, Most: 16, Retries: 1})
		served := make(chan []error)
		go func() { served <- flood(t.Context(), l, 16) }()
		time.Sleep(2 * time.Second)
		if got := l.Limit(""); got != 8 { // the 8 successful calls began under the old limit
			t.Errorf("after the cut the limit is %d", got)
		}
		if errs := <-served; len(errs) > 0 {
			t.Error(errs)
		}
		if s.limited != 8 {
			t.Errorf("%d calls were rate limited", s.limited)
		}
		for _, b := range s.begun[16:] {
			if b < 3*time.Second {
				t.Errorf("a call began after %s", b)
			}
		}
		if l.Limit("") != 9 { // the 8 retried calls have raised the limit by one
			t.Errorf("the limit is %d", l.Limit(""))
		}
	})
}

// TestLimiterServesACrowd checks that many calls to a service that permits three concurrent calls all succeed in the end, with few rate
// limits.
func TestLimiterServesACrowd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(3, 0)
		l := engine.NewLimiter(s, engine.LimiterConfig{Begin: 8, Retries: 20, Pause: 500 * time.Millisecond, Wait: time.Hour})
		if errs := flood(t.Context(), l, 200); len(errs) > 0 {
			t.Errorf("%d failed: %v", len(errs), errs[0])
		}
		if s.limited > 50 {
			t.Errorf("%d of %d calls were refused", s.limited, len(s.begun))
		}
	})
}

var errDown = errors.New("down")

func TestLimiterRetries(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		class   llm.Class
		retries int
		calls   int
		limit   int // of concurrent calls, afterwards
		cause   error
	}{
		{llm.ClassRateLimited, -1, 1, 2, nil}, {llm.ClassRateLimited, 2, 3, 1, nil}, {llm.ClassTransient, 2, 3, 1, errDown},
		{llm.ClassTransient, 2, 1, engine.DefaultBeginCalls, nil}, // an answer that cannot be used
		{llm.ClassQuota, 2, 1, engine.DefaultBeginCalls, errDown}, {llm.ClassPermanent, 2, 1, engine.DefaultBeginCalls, errDown},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			m := &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
				return nil, &llm.Failure{Class: tt.class, Message: "no", RetryAfter: 5 * time.Second, Cause: tt.cause}
			}}
			l := engine.NewLimiter(m, engine.LimiterConfig{Retries: tt.retries})
			_, err := agentstest.Collect(t.Context(), l, llm.ReplyRequest{})
			took := time.Since(began)
			if llm.ClassOf(err) != tt.class || len(m.Requests()) != tt.calls || took != time.Duration(tt.calls-1)*5*time.Second {
				t.Errorf("%s: %d calls in %s, error %v", tt.class, len(m.Requests()), took, err)
			}
			if limit := l.Limit(""); limit != tt.limit {
				t.Errorf("%s: the limit is %d, want %d", tt.class, limit, tt.limit)
			}
		})
	}
}

// TestLimiterSurvivesOutages checks that no call fails because a service is down for a while, or refuses calls at random.
func TestLimiterSurvivesOutages(t *testing.T) {
	t.Parallel()
	const calls = 5
	runs := map[string]int{"three seconds": 200, "a third": 60}
	random := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	for name, refuses := range map[string]func(since time.Duration) llm.Class{
		"three seconds": func(since time.Duration) llm.Class {
			if since > 2*time.Second && since < 5*time.Second {
				return llm.ClassTransient
			}
			return ""
		},
		"a third": func(time.Duration) llm.Class {
			mu.Lock()
			defer mu.Unlock()
			if random.IntN(10) < 3 {
				return llm.ClassRateLimited
			}
			return ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				m := &agentstest.Model{Answers: func(context.Context, llm.Question) (string, error) {
					time.Sleep(300 * time.Millisecond)
					if class := refuses(time.Since(start)); class != "" {
						return "", &llm.Failure{Class: class, Message: "no", Cause: errDown}
					}
					return "{}", nil
				}}
				l := engine.NewLimiter(m, engine.LimiterConfig{})
				var wait sync.WaitGroup
				for range runs[name] {
					wait.Go(func() {
						for range calls {
							if _, err := l.Answer(t.Context(), llm.Question{}); err != nil {
								t.Error(err)
							}
						}
					})
				}
				wait.Wait()
			})
		})
	}
}

func TestLimiterRepeatsNothingThatWasHeard(t *testing.T) {
	t.Parallel()
	m := &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		return agentstest.Texts("Good "), &llm.Failure{Class: llm.ClassRateLimited, Message: "no"}
	}}
	got, err := agentstest.Collect(t.Context(), engine.NewLimiter(m, engine.LimiterConfig{Retries: 5}), llm.ReplyRequest{})
	if got.Text != "Good " || err == nil || len(m.Requests()) != 1 {
		t.Errorf("%q after %d requests, error %v", got.Text, len(m.Requests()), err)
	}
}

func TestLimiterWaitsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(0, 0)
		l := engine.NewLimiter(s, engine.LimiterConfig{Begin: 1, Most: 1, Wait: 3500 * time.Millisecond, Queue: 5})
		errs := flood(t.Context(), l, 10) // one call runs and five wait, three of which get a slot in time
		if len(errs) != 6 || s.peak != 1 {
			t.Errorf("%d failed, at most %d ran at once", len(errs), s.peak)
		}
		for _, err := range errs {
			if llm.ClassOf(err) != llm.ClassRateLimited {
				t.Error(err)
			}
		}
		if took := time.Since(s.start); took != 4*time.Second {
			t.Errorf("it took %s", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := newService(1, time.Hour)
		l := engine.NewLimiter(s, engine.LimiterConfig{Begin: 2, Retries: 3})
		errs := flood(t.Context(), l, 2)
		f, ok := errors.AsType[*llm.Failure](errors.Join(errs...))
		if len(errs) != 1 || !ok || f.Class != llm.ClassRateLimited || f.RetryAfter < 59*time.Minute {
			t.Errorf("the failures are %v", errs)
		}
		if took := time.Since(s.start); took != time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestLimiterEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(0, 0)
		l := engine.NewLimiter(s, engine.LimiterConfig{Begin: 1, Most: 1})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if errs := flood(ctx, l, 20); len(errs) != 20 || time.Since(s.start) != 500*time.Millisecond {
			t.Errorf("%d failed after %s", len(errs), time.Since(s.start))
		}
		if errs := flood(t.Context(), l, 3); len(errs) > 0 {
			t.Errorf("afterwards: %v", errs)
		}
	})
}

func TestLimiterTellsModelsApart(t *testing.T) {
	t.Parallel()
	l := engine.NewLimiter(&agentstest.Model{Answers: func(_ context.Context, q llm.Question) (string, error) {
		if q.Model == "small" {
			return "", &llm.Failure{Class: llm.ClassRateLimited, Message: "no", RetryAfter: time.Hour}
		}
		return "{}", nil
	}}, engine.LimiterConfig{})
	for range 500 { // more names than the Limiter distinguishes
		_, _ = l.Answer(t.Context(), llm.Question{Model: "small"})
	}
	if _, err := l.Answer(t.Context(), llm.Question{Model: "large"}); err != nil || l.Limit("small") != 2 {
		t.Errorf("the limit is %d, error %v", l.Limit("small"), err)
	}
	for i := range 500 {
		if _, err := l.Answer(t.Context(), llm.Question{Model: fmt.Sprint("m", i)}); err != nil {
			t.Fatal(err)
		}
	}
}
