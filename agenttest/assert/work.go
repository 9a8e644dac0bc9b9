package assert

import "context"

// Work counts the steps of the regular expressions of one run, which together may do MaxWork steps. Steps are counted, not timed, so that
// the results of a conversation are the same on every machine. The zero Work is ready to use. It is not safe for concurrent use.
type Work struct{ done int }

// canAfford reports whether a search for some matches in size bytes is within the remaining limit. Each match may have to read all bytes.
func (w *Work) canAfford(p pattern, size, matches int) bool {
	return p.steps <= (MaxWork-w.done)/(max(size, 1)*matches)
}

// admit reports whether a search is within the remaining limit. If it is not, admit sets the result.
func (w *Work) admit(p pattern, size, matches int, r *Result) bool {
	switch {
	case w.canAfford(p, size, matches):
		return true
	case (&Work{}).canAfford(p, size, matches):
		r.failf(Error, CodeTooLarge, "The earlier regular expressions used up most of the run's limit of work: too little is left for "+
			"%d bytes of text. Simplify them, or use other types of assertions.", size)
	default:
		r.failf(Error, CodeTooLarge, "The regular expression is too large for %d bytes of text. Simplify it, or use another type of assertion.", size)
	}
	return false
}

// add counts the work of reading size bytes the given number of times.
func (w *Work) add(p pattern, size, times int) { w.done += p.steps * max(size, 1) * times }

// interrupted reports whether ctx is done. If it is, interrupted sets the result.
func interrupted(ctx context.Context, r *Result) bool {
	if ctx.Err() == nil {
		return false
	}
	r.failf(Error, CodeInterrupted, "The evaluation was interrupted.")
	return true
}
