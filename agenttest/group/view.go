package group

import (
	"context"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// These constants limit the cached views.
const (
	maxViews   = 8               // number of cached views
	maxViewAge = 2 * time.Second // maximum age of the view of a set that has changed
)

// views caches the statistics of large simulation sets whose final statistics are not stored yet. Concurrent readers of a set, even a small
// one, share one computation.
type views struct {
	mu  sync.Mutex
	all map[viewed]*view // at most maxViews computed views, and the views being computed
}

// viewed is the key of a view. It includes whether the set has ended, so that the final statistics, which cover all runs, never match an
// earlier view.
type viewed struct {
	org   callwright.OrgID
	id    string
	ended bool
}

// view contains the statistics of one set, or represents their computation.
type view struct {
	revision int64         // revision of the set
	made     chan struct{} // closed when the following fields are set
	st       Statistics
	err      error
	left     bool      // the computation was canceled, and another reader must start it again
	at       time.Time // time of the computation
}

// of returns a set's view if it is fresh or being computed. Else it returns a new view and true, and the caller must compute the view.
func (v *views) of(b Batch, now time.Time) (found *view, mine bool) {
	key := keyOf(b)
	v.mu.Lock()
	defer v.mu.Unlock()
	found = v.all[key]
	if found != nil && (found.at.IsZero() || found.revision == b.Revision || now.Sub(found.at) < maxViewAge) {
		return found, false
	}
	found = &view{revision: b.Revision, made: make(chan struct{})}
	if v.all == nil {
		v.all = map[viewed]*view{}
	}
	v.all[key] = found
	return found, true
}

// remember finishes the computation of a view and caches the view, if necessary in place of the oldest one. It does not cache a failed
// computation, or a view of a set whose runs fit one page, because such a view is cheap to compute.
func (v *views) remember(b Batch, made *view, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	defer close(made.made)
	if made.at = now; made.err != nil || b.Total() <= runsPage {
		delete(v.all, keyOf(b))
		return
	}
	kept, oldest := 0, keyOf(b)
	for key, one := range v.all {
		if one.at.IsZero() {
			continue
		}
		kept++
		if one.at.Before(v.all[oldest].at) {
			oldest = key
		}
	}
	if kept > maxViews {
		delete(v.all, oldest)
	}
}

func keyOf(b Batch) viewed { return viewed{b.Org, b.ID, b.State.Ended()} }

// view returns the statistics of a set whose final statistics are not stored. They may lack changes of the last maxViewAge.
func (s *Service) view(ctx context.Context, b Batch) (Statistics, error) {
	for {
		v, mine := s.views.of(b, s.cfg.Run.Clock.Now())
		if mine {
			return s.makeView(ctx, b, v)
		}
		select {
		case <-v.made:
		case <-ctx.Done():
			return Statistics{}, context.Cause(ctx)
		}
		if !v.left {
			return v.st, v.err
		}
	}
}

// makeView computes a view, and wakes the readers that wait for it.
func (s *Service) makeView(ctx context.Context, b Batch, v *view) (Statistics, error) {
	v.left, v.err = true, callwright.ErrInternal // in case the computation panics
	defer func() { s.views.remember(b, v, s.cfg.Run.Clock.Now()) }()
	release, err := s.cfg.Reads.Hold(ctx, b.Org)
	if err == nil {
		defer release()
		v.st, err = s.statistics(ctx, b)
	}
	v.err, v.left = err, err != nil && ctx.Err() != nil
	return v.st, err
}
