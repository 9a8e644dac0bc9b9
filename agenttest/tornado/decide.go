package tornado

import (
	"fmt"
	"slices"
)

// results maps the ids of scenarios to the tallies of their runs on one version.
type results map[string]Tally

// tested reports whether a scenario has a verdict.
func (t Tally) tested() bool { return t.Passed+t.Failed > 0 }

// passes reports whether a scenario passes. A scenario that failed before, or that promotion requires, must pass every time. Any other
// scenario passes if most of its runs do, because agents vary between runs.
func (t Tally) passes(before, required bool) bool {
	if before && !required {
		return t.Passed > t.Failed
	}
	return t.Passed > 0 && t.Failed == 0
}

// split returns the passing scenarios and all others, in the order of the session. before lists the scenarios that pass with the version to
// compare with.
func (s results) split(scenarios []Scenario, before []string) (passed, failed []string) {
	for _, sc := range scenarios {
		if s[sc.ID].passes(slices.Contains(before, sc.ID), sc.Required) {
			passed = append(passed, sc.ID)
		} else {
			failed = append(failed, sc.ID)
		}
	}
	return passed, failed
}

// measured divides the scenarios that were run into passing ones, failing ones, and those without a verdict. before has the same meaning as
// in split.
func (s results) measured(scenarios []Scenario, before []string) (passed, failed, errors []string) {
	for _, sc := range scenarios {
		t, run := s[sc.ID]
		switch {
		case !run:
		case !t.tested():
			errors = append(errors, sc.ID)
		case t.passes(slices.Contains(before, sc.ID), sc.Required):
			passed = append(passed, sc.ID)
		default:
			failed = append(failed, sc.ID)
		}
	}
	return passed, failed, errors
}

// score returns the mean score of all scenarios, or 0 if there are none.
func (s results) score() float64 {
	if len(s) == 0 {
		return 0
	}
	sum := 0.0
	for _, id := range sorted(s) {
		sum += s[id].Score
	}
	return sum / float64(len(s))
}

// broken counts the scenarios without a verdict.
func (s results) broken() (n int) {
	for _, t := range s {
		if !t.tested() {
			n++
		}
	}
	return n
}

func sorted(s results) []string {
	ids := make([]string, 0, len(s))
	for id := range s {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// better reports whether a candidate replaces the best version. before lists the scenarios that the best version passes. The candidate must
// pass them all. It must also pass more scenarios, or have a higher mean score. reason is for people. told is for the Fixer and hides
// held-out scenarios.
func better(scenarios []Scenario, before []string, best, candidate results) (accept bool, reason, told string) {
	after, _ := candidate.split(scenarios, before)
	for _, sc := range scenarios {
		if !slices.Contains(before, sc.ID) || slices.Contains(after, sc.ID) {
			continue
		}
		reason = fmt.Sprintf("the scenario %s passed before and fails now: %s", sc.ID, candidate[sc.ID].Reason)
		if !sc.HeldOut {
			return false, reason, reason
		}
		told = "a scenario that is not shown passed before and fails now"
	}
	if reason != "" {
		return false, reason, told
	}
	accept, reason = higher(scenarios, before, after, best, candidate)
	return accept, reason, reason
}

// higher compares two versions if the candidate has no regressions. It accepts the candidate if more scenarios pass, or else if its mean
// score is higher.
func higher(scenarios []Scenario, before, after []string, best, candidate results) (accept bool, reason string) {
	switch {
	case len(after) > len(before):
		return true, fmt.Sprintf("%d of %d scenarios pass, %d passed before", len(after), len(scenarios), len(before))
	case candidate.score() > best.score():
		return true, fmt.Sprintf("as many scenarios pass, with a mean score of %.3f after %.3f", candidate.score(), best.score())
	default:
		return false, "no more scenarios pass, and the mean score is not higher"
	}
}

// oscillates reports whether the last three sets of failing scenarios alternate: A, B, A.
func oscillates(sets [][]string) bool {
	n := len(sets)
	return n >= 3 && slices.Equal(sets[n-1], sets[n-3]) && !slices.Equal(sets[n-1], sets[n-2])
}
