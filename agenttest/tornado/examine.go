package tornado

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/llm"
)

// measured returns an ending if a scenario has no verdict with the base version, because the search could not detect its regressions.
func (s *search) measured() error {
	_, _, open := s.best.measured(s.cfg.Scenarios, nil)
	if len(open) == 0 {
		return nil
	}
	s.now().Passed, s.now().Failed, s.now().Errors = s.best.measured(s.cfg.Scenarios, nil)
	if s.spent() {
		return &ending{CompletedPartial, StopBudget, ""}
	}
	return &ending{Failed, StopInfrastructure, fmt.Sprintf(
		"scenarios without a verdict on version %d after a second run: %s; see the errors of their runs, or start a session without them",
		s.Base, strings.Join(open, ", "))}
}

// examine tests a candidate: first the failing scenarios, and then the passing ones. Then it tests again the scenarios that the methods
// mended and regressed return. A non-empty reason means that no failing scenario passes, so that the candidate is rejected without further
// tests.
func (s *search) examine(ctx context.Context, version int) (candidate results, reason string, err error) {
	if err := s.enter(Screening); err != nil {
		return nil, "", err
	}
	if candidate, err = s.test(ctx, version, s.Failed, 1); err != nil {
		return nil, "", err
	}
	mended := s.mended(candidate)
	if len(mended) == 0 && candidate.broken() == 0 {
		return candidate, "no failing scenario passes", nil
	}
	if err := s.enter(Verifying); err != nil {
		return nil, "", err
	}
	others, err := s.test(ctx, version, s.Passed, 1)
	if err != nil {
		return nil, "", err
	}
	maps.Copy(candidate, others)
	for _, again := range []struct {
		what      string
		scenarios []string
		trials    int
	}{{"confirm", mended, s.cfg.Confirm}, {"check", s.regressed(candidate), 2}} {
		if len(again.scenarios) == 0 || again.trials < 1 {
			continue
		}
		more, err := s.try(ctx, again.what, version, again.scenarios, again.trials)
		if err != nil {
			return nil, "", err
		}
		for id, t := range more {
			candidate[id] = candidate[id].plus(t)
		}
	}
	return candidate, "", nil
}

// mended returns the failing scenarios that pass at least once with a candidate.
func (s *search) mended(candidate results) (ids []string) {
	for _, id := range s.Failed {
		if candidate[id].Passed > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// regressed returns the passing scenarios that fail with a candidate. It omits scenarios that promotion requires, because a single failure
// of such a scenario rejects the candidate.
func (s *search) regressed(candidate results) (ids []string) {
	for _, sc := range s.cfg.Scenarios {
		if slices.Contains(s.Passed, sc.ID) && candidate[sc.ID].Failed > 0 && !sc.Required {
			ids = append(ids, sc.ID)
		}
	}
	return ids
}

// maxReruns limits the reruns while most scenarios have no verdict.
const maxReruns = 4

// test runs scenarios, and reruns those without a verdict: once, or up to maxReruns times while they are the majority and SearchConfig.Rest
// is set. It reruns none when the budget is spent. It returns a permanent llm.Failure if the model refused most scenarios.
func (s *search) test(ctx context.Context, version int, scenarios []string, trials int) (results, error) {
	out := make(results, len(scenarios))
	what := "run"
	for n := 1; ; n++ {
		var open []string
		for _, id := range scenarios {
			if !out[id].tested() {
				open = append(open, id)
			}
		}
		again, err := s.runAgain(ctx, n-1, len(open), len(scenarios))
		if err != nil || !again {
			return out, err
		}
		got, err := s.try(ctx, fmt.Sprintf("%s %s", s.Phase, what), version, open, trials)
		if err != nil {
			return nil, err
		}
		refused := 0
		for _, id := range open {
			if out[id] = out[id].plus(got[id]); !out[id].tested() && out[id].Refused > 0 {
				refused++
			}
		}
		if 2*refused > len(scenarios) {
			return nil, &llm.Failure{Class: llm.ClassPermanent, Message: llm.Reason(&llm.Failure{Class: llm.ClassPermanent})}
		}
		what = fmt.Sprint("run again ", n)
	}
}

// runAgain reports whether to run the scenarios that have no verdict after n runs. open is their number, and all is the number of all
// scenarios. Before a rerun while most scenarios have no verdict, it waits with SearchConfig.Rest.
func (s *search) runAgain(ctx context.Context, n, open, all int) (bool, error) {
	switch down := 2*open > all && s.cfg.Rest != nil; {
	case open == 0, n > maxReruns, n > 1 && !down, n > 0 && s.spent():
		return false, nil
	case n == 0 || !down:
		return true, nil
	}
	if err := s.interrupted(); err != nil {
		return false, err
	}
	return true, s.cfg.Rest(ctx, n)
}

// try runs scenarios, and lists the run as a trial of the current iteration.
func (s *search) try(ctx context.Context, what string, version int, scenarios []string, trials int) (map[string]Tally, error) {
	name := s.name(what)
	s.now().Trials = append(s.now().Trials, name)
	s.tell()
	return s.cfg.Tests.Run(ctx, name, version, scenarios, trials)
}
