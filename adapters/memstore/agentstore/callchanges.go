package agentstore

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

// Revisions returns the ids and versions of the calls that List returns for f, in the same order.
func (s Calls) Revisions(ctx context.Context, org callwright.OrgID, f call.Filter) ([]call.Revision, error) {
	page, _, err := s.List(ctx, org, f)
	return call.RevisionsOf(page.Items), err
}

// Position returns the progress of a call, or CodeNotFound if the call is absent.
func (s Calls) Position(ctx context.Context, org callwright.OrgID, id string) (p call.Position, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		c, err := d.calls.Stored(org, id)
		if err != nil {
			return err
		}
		p = call.Position{Version: c.Version, StopRequested: c.StopRequested, Turn: -1}
		events := d.callEvents.Rows()[id]
		if n := len(events.lines); n > 0 {
			p.Line = events.lines[n-1].Seq
		}
		if n := len(events.logs); n > 0 {
			p.Turn = events.logs[n-1].Turn
		}
		return nil
	})
	return p, err
}
