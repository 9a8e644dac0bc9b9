package triageapi

import (
	"context"
	"net/http"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/triageoas"
	"github.com/callwright/callwright/triage"
)

// StreamIssueActivity serves GET /v1/triage/issues/{id}/activity/stream. It streams new entries of an issue's feed until the client
// disconnects, the time limit is reached, the key becomes invalid, the issue is deleted or the service is closed.
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
	// Clients also store the id of an event without data. A client that disconnects before the first entry therefore misses no entry.
	first := httpapi.Event{Comment: "the feed follows", ID: watcher.Cursor()}
	httpapi.SendEvents(ctx, w, first, watcher.Next, func(e triage.Entry) (httpapi.Event, error) { return entryEvent(watcher, e) })
	return nil
}

// entryEvent returns the event of an entry. The event's id is the entry's cursor.
func entryEvent(watcher *triage.Watcher, e triage.Entry) (httpapi.Event, error) {
	item, err := activityItem(e)
	if err != nil {
		return httpapi.Event{}, err
	}
	var data jx.Encoder
	item.Encode(&data)
	return httpapi.Event{ID: watcher.CursorOf(e), Name: "entry", Data: data.Bytes()}, nil
}
