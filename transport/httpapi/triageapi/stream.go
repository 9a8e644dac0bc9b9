package triageapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/triageoas"
	"github.com/callwright/callwright/triage"
)

// How a feed is streamed.
const (
	streamBeat    = 15 * time.Second // between comments, while there is nothing to tell: what is idle may be cut on the way
	streamLife    = 15 * time.Minute // then the client comes again
	streamCheck   = streamBeat       // between checks of the client's key
	streamTimeout = 10 * time.Second // for a client to take what is sent
)

// StreamIssueActivity sends the entries of an issue's feed as they are written, as server-sent events, until the client
// goes, its time is up, the issue is deleted or the service is closed.
func (a *api) StreamIssueActivity(ctx context.Context, params oas.StreamIssueActivityParams, w http.ResponseWriter) error {
	after := params.LastEventID.Or("")
	if after == "" {
		after = params.Cursor.Or("")
	}
	watcher, err := a.issues.Watch(ctx, httpapi.Org(ctx), params.ID, after)
	if err != nil {
		return err
	}
	defer watcher.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "private, no-store")
	w.Header().Set("X-Accel-Buffering", "no") // asks proxies to pass on what comes at once
	if httpapi.Head(ctx) {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	s := stream{w: w, control: http.NewResponseController(w)}
	ctx, cancel := context.WithTimeout(ctx, streamLife)
	defer cancel()
	if err := s.follow(ctx, watcher); err != nil {
		httpapi.LogFailure(ctx, err) // the answer has begun and can't say so
	}
	return nil
}

// stream is an answer of server-sent events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// follow sends the entries of a watcher. The usual ends of a stream are no errors.
func (s stream) follow(ctx context.Context, watcher *triage.Watcher) error {
	defer s.mustTake() // the end of the answer
	// A client remembers an id that comes without data: it may go before the first entry, and yet misses none.
	sent := s.send(fmt.Appendf(nil, ": the feed follows\nid: %s\n\n", watcher.Cursor()))
	for checked := time.Now(); sent == nil; {
		entries, err := nextWithin(ctx, streamBeat, watcher)
		switch {
		case ctx.Err() != nil, errors.Is(err, callwright.ErrUnavailable), errors.Is(err, callwright.ErrNotFound):
			return nil
		case err != nil:
			return err
		}
		if time.Since(checked) >= streamCheck {
			if err := httpapi.StillAuthorized(ctx); err != nil {
				return err
			}
			checked = time.Now()
		}
		if len(entries) == 0 {
			sent = s.send([]byte(":\n\n"))
		}
		for n := 0; n < len(entries) && sent == nil; n++ {
			event, err := entryEvent(watcher, entries[n])
			if err != nil {
				return err
			}
			sent = s.send(event)
		}
	}
	return nil // the client has gone, or does not read
}

// nextWithin returns the entries that a watcher gives within a time; none if nothing happens.
func nextWithin(ctx context.Context, beat time.Duration, watcher *triage.Watcher) ([]triage.Entry, error) {
	within, cancel := context.WithTimeout(ctx, beat)
	defer cancel()
	entries, err := watcher.Next(within)
	if err != nil && within.Err() != nil {
		return nil, ctx.Err()
	}
	return entries, err
}

// entryEvent returns an entry as an event: its cursor, and its JSON, without the line ends that an agent's may have.
func entryEvent(watcher *triage.Watcher, e triage.Entry) ([]byte, error) {
	item, err := activityItem(e)
	if err != nil {
		return nil, err
	}
	var data jx.Encoder
	item.Encode(&data)
	var line bytes.Buffer
	if err := json.Compact(&line, data.Bytes()); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "id: %s\nevent: entry\ndata: %s\n\n", watcher.CursorOf(e), line.Bytes()), nil
}

// send writes an event and has it go out now.
func (s stream) send(event []byte) error {
	s.mustTake()
	if _, err := s.w.Write(event); err != nil {
		return err
	}
	return s.control.Flush()
}

// mustTake gives the client its time for what is sent next. A writer without deadlines has none.
func (s stream) mustTake() { _ = s.control.SetWriteDeadline(time.Now().Add(streamTimeout)) }
