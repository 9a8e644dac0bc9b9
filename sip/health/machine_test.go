package health_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/sip/health"
)

var start = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// moves lists all transitions, one a line: state, count and evidence, and the resulting state and count.
const moves = `
unchecked 0 answer healthy 0
unchecked 0 miss unchecked 1
unchecked 1 answer healthy 0
unchecked 1 miss unchecked 2
unchecked 2 answer healthy 0
unchecked 2 miss unreachable 0
healthy 0 answer healthy 0
healthy 0 miss suspect 1
suspect 1 answer healthy 0
suspect 1 miss suspect 2
suspect 2 answer healthy 0
suspect 2 miss unreachable 0
unreachable 0 answer recovering 1
unreachable 0 miss unreachable 0
recovering 1 answer healthy 0
recovering 1 miss unreachable 0
`

// counted lists the counts that each state may have.
var counted = []health.Server{
	{State: health.Unchecked}, {State: health.Unchecked, Streak: 1}, {State: health.Unchecked, Streak: 2},
	{State: health.Healthy}, {State: health.Suspect, Streak: 1}, {State: health.Suspect, Streak: 2},
	{State: health.Unreachable}, {State: health.Recovering, Streak: 1},
}

func TestEveryMove(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	got.WriteString("\n")
	for _, before := range counted {
		before.Since = start
		for _, alive := range []bool{true, false} {
			said := map[bool]string{true: "answer", false: "miss"}[alive]
			e := health.Evidence{At: start.Add(time.Hour), Alive: alive, Reason: said}
			after := before.Next(e)
			fmt.Fprintln(&got, before.State, before.Streak, said, after.State, after.Streak)
			if moved := !after.Since.Equal(start); moved != (after.State != before.State) {
				t.Errorf("%v %s: since %s", before, said, after.Since)
			}
			if !after.CheckedAt.Equal(e.At) || after.Reason != said {
				t.Errorf("%v %s: checked at %s, because %q", before, said, after.CheckedAt, after.Reason)
			}
		}
	}
	if got.String() != moves {
		t.Errorf("the moves are:%s", got.String())
	}
}

// TestNoOtherState checks that random evidence never leads to a state and count that counted does not contain.
func TestNoOtherState(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s health.Server
		at, misses, answers := start, 0, 0
		for _, alive := range rapid.SliceOf(rapid.Bool()).Draw(t, "alive") {
			at = at.Add(time.Second)
			s = s.Next(health.Evidence{At: at, Alive: alive})
			if alive {
				misses, answers = 0, answers+1
			} else {
				misses, answers = misses+1, 0
			}
			known := false
			for _, c := range counted {
				known = known || c.State == s.State && c.Streak == s.Streak
			}
			switch {
			case !known:
				t.Fatalf("%s %d", s.State, s.Streak)
			case misses >= 3 && s.State != health.Unreachable:
				t.Fatalf("%s after %d misses", s.State, misses)
			case answers >= 2 && s.State != health.Healthy:
				t.Fatalf("%s after %d answers", s.State, answers)
			}
		}
	})
}

func TestPublic(t *testing.T) {
	t.Parallel()
	for s, want := range map[health.State]health.State{
		health.Unchecked: health.Unchecked, health.Healthy: health.Healthy, health.Suspect: health.Healthy,
		health.Unreachable: health.Unreachable, health.Recovering: health.Unreachable,
	} {
		if got := s.Public(); got != want {
			t.Errorf("%s is %s to the outside, want %s", s, got, want)
		}
	}
}

func TestResponseTimeStays(t *testing.T) {
	t.Parallel()
	s := health.Server{}.Next(health.Evidence{At: start, Alive: true, ResponseTime: 7 * time.Millisecond})
	s = s.Next(health.Evidence{At: start, Alive: true}) // a call yields no response time
	s = s.Next(health.Evidence{At: start})
	if s.ResponseTime != 7*time.Millisecond {
		t.Errorf("the last probe took %s", s.ResponseTime)
	}
}

func TestProbeAt(t *testing.T) {
	t.Parallel()
	entered := health.Server{State: health.Unreachable, Since: start}
	for name, test := range map[string]struct {
		server health.Server
		want   time.Duration
	}{
		"healthy":            {health.Server{State: health.Healthy}, time.Minute},
		"suspect":            {health.Server{State: health.Suspect, Streak: 1}, 5 * time.Second},
		"suspect again":      {health.Server{State: health.Suspect, Streak: 2}, 10 * time.Second},
		"just fallen":        {entered, 20 * time.Second},
		"unreachable":        {health.Server{State: health.Unreachable, Since: start.Add(-time.Minute)}, time.Minute},
		"recovering":         {health.Server{State: health.Recovering, Streak: 1}, 5 * time.Second},
		"unchecked, missed":  {health.Server{State: health.Unchecked, Streak: 2}, 10 * time.Second},
		"told to wait":       {health.Server{State: health.Suspect, Streak: 1, NotBefore: start.Add(time.Minute)}, time.Minute},
		"told to wait a bit": {health.Server{State: health.Suspect, Streak: 1, NotBefore: start.Add(time.Second)}, 5 * time.Second},
	} {
		test.server.CheckedAt = start
		if got := test.server.ProbeAt(start).Sub(start); got != test.want {
			t.Errorf("%s: after %s, want %s", name, got, test.want)
		}
	}
	if at := (health.Server{State: health.Unchecked}).ProbeAt(start); !at.IsZero() {
		t.Errorf("one that was never checked is to be probed at %s", at)
	}
}

// TestProbesKeepTheirSchedule checks that late probes and responses do not shift the schedule of later probes.
func TestProbesKeepTheirSchedule(t *testing.T) {
	t.Parallel()
	due := start
	for i, late := range []time.Duration{0, time.Second, 6 * time.Second, 59 * time.Second, 0} {
		s := health.Server{State: health.Healthy, CheckedAt: due.Add(late)}
		if due = s.ProbeAt(due); due.Sub(start) != time.Duration(i+1)*time.Minute {
			t.Fatalf("probe %d is due after %s", i+1, due.Sub(start))
		}
	}
	s := health.Server{State: health.Healthy, CheckedAt: start.Add(10*time.Minute + time.Second)}
	if at := s.ProbeAt(start); at.Sub(start) != 11*time.Minute {
		t.Errorf("after ten minutes without probes: %s", at.Sub(start))
	}
	if at := s.ProbeAt(time.Time{}); at.Sub(s.CheckedAt) != time.Minute {
		t.Errorf("without a time: %s", at)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	busy := func(at time.Time, d time.Duration) health.Evidence { return health.Evidence{At: at, RetryAfter: d} }
	healthy := health.Server{State: health.Healthy, CheckedAt: start}
	for asked, want := range map[time.Duration]time.Duration{
		time.Second: 5 * time.Second, 40 * time.Second: 40 * time.Second, time.Hour: health.MaxRetryAfter,
	} {
		s := healthy.Next(busy(start, asked))
		if got := s.ProbeAt(start).Sub(start); s.State != health.Suspect || got != want {
			t.Errorf("asked for %s: %s, probed after %s, want %s", asked, s.State, got, want)
		}
	}
	waiting := healthy.Next(busy(start, time.Minute))
	missed := waiting.Next(health.Evidence{At: start.Add(10 * time.Second)}) // a failed call, unlike a probe, may precede NotBefore
	if !missed.NotBefore.Equal(waiting.NotBefore) {
		t.Error("a call that failed cut the wait short")
	}
	if s := waiting.Next(health.Evidence{At: start.Add(10 * time.Second), Alive: true}); !s.NotBefore.IsZero() {
		t.Error("a call that was answered did not end the wait")
	}
	if s := waiting.Next(health.Evidence{At: start.Add(time.Minute)}); !s.NotBefore.IsZero() {
		t.Error("the wait did not end")
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	order := []health.State{health.Healthy, health.Suspect, health.Unchecked, health.Recovering, health.Unreachable}
	for i, better := range order {
		for _, worse := range order[i:] {
			if a, b := health.Best(better, worse), health.Best(worse, better); a != better || b != better {
				t.Errorf("of %s and %s: %s and %s", better, worse, a, b)
			}
		}
	}
	if got := health.Best(); got != health.Unchecked {
		t.Errorf("without servers: %s", got)
	}
}
