package triageapi

import (
	"context"
	"net/http"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/triageoas"
	"github.com/callwright/callwright/triage"
)

// StreamIssueActivity sends the entries of an issue's feed as they are written, until the client goes, its time is up, the issue is
// deleted or the service is closed.
func (a *api) StreamIssueActivity(ctx context.Context, params oas.StreamIssueActivityParams, w http.ResponseWriter) error {
	after := params.LastEventID.Or("")
	if after == "" {
		after = params.Cursor.Or("")
	}
	watcher, err := a.cfg.Issues.Watch(ctx, httpapi.Org(ctx), params.ID, after)
	if err != nil {
		return err
	}
	defer watcher.Close()
	// A client remembers an id that comes without data: it may go before the first entry, and yet misses none.
	first := httpapi.Event{Comment: "the feed follows", ID: watcher.Cursor()}
	httpapi.SendEvents(ctx, w, first, watcher.Next, func(e triage.Entry) (httpapi.Event, error) { return entryEvent(watcher, e) })
	return nil
}

// entryEvent returns an entry as an event, with its cursor.
func entryEvent(watcher *triage.Watcher, e triage.Entry) (httpapi.Event, error) {
	item, err := activityItem(e)
	if err != nil {
		return httpapi.Event{}, err
	}
	var data jx.Encoder
	item.Encode(&data)
	return httpapi.Event{ID: watcher.CursorOf(e), Name: "entry", Data: data.Bytes()}, nil
}
