package triage

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// The polling of watchers. Writes of this node wake them immediately; writes of other nodes are found by polling.
const (
	watchEvery  = time.Second // interval without a wake-up
	watchAtOnce = 100         // entries
	watchGone   = 15          // empty polls after which a watcher checks that the issue still exists
)

// MaxWatchers bounds the open Watchers of one organization in one process.
const MaxWatchers = 100

// Watcher watches an issue's feed. One goroutine may use it; only Close may be called from others.
type Watcher struct {
	service    *Service
	watch      *node.Watcher
	org        callwright.OrgID
	issue      string
	place      callwright.Keyset // of the last entry it has given
	woken      bool              // since its last entries or check of the issue
	emptyPolls int               // empty polls since then
}

// Watch watches an issue's feed after a cursor of Activity or of a Watcher, or from now on without one. A Watcher
// costs no goroutine and must be closed. At the limit of Config.Watchers or MaxWatchers it is CodeTooManyRequests;
// after Close of the service CodeUnavailable.
func (s *Service) Watch(ctx context.Context, org callwright.OrgID, id, after string) (*Watcher, error) {
	place, err := s.openFeed(org, id, after)
	if err != nil {
		return nil, err
	}
	if _, err := s.cfg.Store.Issue(ctx, org, id); err != nil {
		return nil, err
	}
	if after == "" {
		newest, err := s.cfg.Store.Entries(ctx, org, id, callwright.Keyset{}, 1)
		if err != nil {
			return nil, err
		}
		for _, e := range newest {
			place = e.Keyset()
		}
	}
	watch, err := s.watchers.Open(org, id)
	if err != nil {
		return nil, err
	}
	return &Watcher{service: s, watch: watch, org: org, issue: id, place: place}, nil
}

// Next waits for entries after the last one that it returned: 1 to 100, oldest first, each exactly once. It returns the error of
// ctx unchanged when ctx ends, CodeUnavailable once the watcher or the service is closed, and CodeNotFound once the issue is
// deleted: immediately on the node that deletes it, within 15 seconds of waiting on others.
func (w *Watcher) Next(ctx context.Context) ([]Entry, error) {
	for {
		if err := w.watch.Err(); err != nil {
			return nil, err
		}
		entries, err := w.service.cfg.Store.EntriesAfter(ctx, w.org, w.issue, w.place, watchAtOnce)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, err
		case len(entries) > 0:
			w.place, w.woken, w.emptyPolls = entries[len(entries)-1].Keyset(), false, 0
			return entries, nil
		}
		if err := w.there(ctx); err != nil {
			return nil, err
		}
		if err := w.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// there returns CodeNotFound when the issue was deleted. It asks the store only after a wake-up without entries, and at every
// watchGone-th poll.
func (w *Watcher) there(ctx context.Context) error {
	w.emptyPolls++
	if !w.woken && w.emptyPolls < watchGone {
		return nil
	}
	w.woken, w.emptyPolls = false, 0
	_, err := w.service.cfg.Store.Issue(ctx, w.org, w.issue)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// wait blocks until the next poll is due.
func (w *Watcher) wait(ctx context.Context) error {
	woken, err := w.watch.Wait(ctx, watchEvery)
	w.woken = w.woken || woken
	return err
}

// Cursor returns the place after which Next continues. A Watcher opened with it misses nothing.
func (w *Watcher) Cursor() string { return w.service.sealFeed(w.org, w.issue, w.place) }

// CursorOf returns the place after an entry that Next returned.
func (w *Watcher) CursorOf(e Entry) string { return w.service.sealFeed(w.org, w.issue, e.Keyset()) }

// Close ends the watcher and a waiting Next. A second call does nothing.
func (w *Watcher) Close() { w.watch.Close() }

// Close ends all watchers permanently. The rest of the service keeps working.
func (s *Service) Close() { s.watchers.Close() }
