package tornado

import "time"

// Parent returns the number of the best version at the begin of an iteration: the parent of its fork.
func (p Progress) Parent(iteration int) int {
	best := p.Base
	for _, it := range p.Iterations {
		if it.Number >= iteration {
			break
		}
		if it.Outcome == Accepted {
			best = it.Version
		}
	}
	return best
}

// Fork returns the number of the best version; 0 while it is the base version.
func (p Progress) Fork() int {
	if p.Best == p.Base {
		return 0
	}
	return p.Best
}

// Duration returns the duration of a session until its end, or until now.
func (s Session) Duration(now time.Time) time.Duration {
	if !s.EndedAt.IsZero() {
		now = s.EndedAt
	}
	return max(0, now.Sub(s.CreatedAt))
}

// Text returns the first text that a plan sets; empty: none.
func (p Plan) Text() string {
	for _, fix := range p.Fixes {
		for _, edit := range fix.Edits {
			if edit.Op == SetText {
				return edit.Text
			}
		}
	}
	return ""
}

// Batches returns the ids of the batches and simulation sets of an iteration.
func (s Session) Batches(it Iteration) []string {
	ids := make([]string, len(it.Trials))
	for i, name := range it.Trials {
		ids[i] = TrialID(s.ID, name)
	}
	return ids
}

// Current returns the number of the iteration in progress, or of the last one.
func (p Progress) Current() int { return max(0, len(p.Iterations)-1) }
