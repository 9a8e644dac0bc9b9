package tornado

import "time"

// Parent returns the number of the version that was the best one when an iteration began. The iteration's fork is based on this version.
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

// Fork returns the number of the best version, or 0 while this is the base version.
func (p Progress) Fork() int {
	if p.Best == p.Base {
		return 0
	}
	return p.Best
}

// Duration returns how long a session lasted, or how long it has run until now.
func (s Session) Duration(now time.Time) time.Duration {
	if !s.EndedAt.IsZero() {
		now = s.EndedAt
	}
	return max(0, now.Sub(s.CreatedAt))
}

// Text returns the text of a plan's first SetText, or "" if there is none.
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

// Batches returns the ids of the batches and simulation sets that an iteration of the session ran.
func (s Session) Batches(it Iteration) []string {
	ids := make([]string, len(it.Trials))
	for i, name := range it.Trials {
		ids[i] = TrialID(s.ID, name)
	}
	return ids
}

// Current returns the number of the newest iteration, or 0 before the first.
func (p Progress) Current() int { return max(0, len(p.Iterations)-1) }
