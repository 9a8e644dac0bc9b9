package tornado

import "time"

// Parent returns the number of the version that was the best one when an iteration began, and from which its fork comes.
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

// Fork returns the number of the best version; 0 while that is the one to begin with.
func (p Progress) Fork() int {
	if p.Best == p.Base {
		return 0
	}
	return p.Best
}

// Took returns how long a session has taken until now, or until its end.
func (s Session) Took(now time.Time) time.Duration {
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

// Current returns the number of the iteration that goes on, or was the last one.
func (p Progress) Current() int { return max(0, len(p.Iterations)-1) }
