package triage

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// Limits of the polling by watchers. A write on this node wakes them immediately. They find writes of other nodes by polling.
const (
	watchEvery  = time.Second // polling interval
	watchAtOnce = 100         // maximum number of entries that Next returns
	watchGone   = 15          // empty polls after which a watcher checks that the issue still exists
)

// MaxWatchers is the maximum number of open Watchers of one organization in one Service.
const MaxWatchers = 100

// Watcher watches an issue's feed. Only one goroutine at a time may use it, but others may call Close.
type Watcher struct {
	service    *Service
	watch      *node.Watcher
	org        callwright.OrgID
	issue      string
	place      callwright.Keyset // place of the last returned entry, or the start
	woken      bool              // by a write, since the last entries or check of the issue
	emptyPolls int               // since the last entries or check of the issue
}

// Watch watches an issue's feed. With a cursor of Activity or of a Watcher, the Watcher returns the entries after that cursor. Without a
// cursor, it returns the entries that are added from now on. A Watcher uses no goroutine, and the caller must close it. Watch returns
// CodeNotFound if the issue is absent, CodeTooManyRequests at the limit of Config.Watchers or MaxWatchers, and CodeUnavailable after
// Service.Close.
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

// Next waits for entries and returns the next 1 to 100, oldest first. It returns each entry once. If ctx ends, it returns the error of ctx
// unchanged. It returns CodeUnavailable after the watcher or the service was closed. It returns CodeNotFound after the issue was deleted:
// immediately on the node that deletes the issue, and within 15 seconds of waiting on other nodes.
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

// there returns CodeNotFound if the issue was deleted. It queries the store only after a wake-up without entries, and at every watchGone-th
// empty poll.
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

// wait blocks until a write wakes the watcher or watchEvery has passed, and sets woken after a write.
func (w *Watcher) wait(ctx context.Context) error {
	woken, err := w.watch.Wait(ctx, watchEvery)
	w.woken = w.woken || woken
	return err
}

// Cursor returns the cursor of the place after which Next continues. A Watcher that starts at this cursor misses no entry.
func (w *Watcher) Cursor() string { return w.service.sealFeed(w.org, w.issue, w.place) }

// CursorOf returns the cursor of an entry that Next returned. A Watcher that starts at this cursor continues after the entry.
func (w *Watcher) CursorOf(e Entry) string { return w.service.sealFeed(w.org, w.issue, e.Keyset()) }

// Close closes the watcher and ends a waiting Next. Later calls do nothing.
func (w *Watcher) Close() { w.watch.Close() }

// Close closes all watchers and refuses new ones. It affects no other methods.
func (s *Service) Close() { s.watchers.Close() }
