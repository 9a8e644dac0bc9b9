package calls

import (
	"context"
	"strings"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// one contains the data of a call's page.
type one struct {
	Call      call.Call
	Ended     bool
	Why       string   // why the call failed; empty if it has not failed
	Error     string   // error message, unless Why contains it
	Warnings  []string // how the call deviates from its request
	Recording recording
	Lines     lines
	Turns     turns
	Attempts  []attempt
}

// call shows a call. The page is live until the call has ended.
func (p pages) call(ctx context.Context, r *page.Request) (page.Answer, error) {
	id := r.PathValue("id")
	position, err := p.cfg.Calls.Position(ctx, r.Org(), id)
	if err != nil {
		return nil, err
	}
	c, err := p.cfg.Calls.Record(ctx, r.Org(), id)
	if err != nil {
		return nil, err
	}
	data := one{Call: c, Ended: c.Queue.Ended(), Error: c.ErrorMessage, Warnings: p.cfg.Calls.Warnings(c)}
	if c.Status == call.StatusFailed {
		data.Why = c.Failure().Reason
	}
	if strings.Contains(data.Why, c.ErrorMessage) {
		data.Error = ""
	}
	if data.Lines, err = p.lines(ctx, r, position.Line, data.Ended); err != nil {
		return nil, err
	}
	if data.Turns, err = p.turns(ctx, r, position.Turn, data.Ended); err != nil {
		return nil, err
	}
	if data.Attempts, err = p.attempts(ctx, r, c); err != nil {
		return nil, err
	}
	if data.Recording, err = p.recordingOf(ctx, c, data.Lines.Lines); err != nil {
		return nil, err
	}
	view := &page.View{Page: "call", Title: c.Title(), Data: data}
	if !data.Ended {
		view.Live = []string{"facts", "transcript", "turns", "attempts"}
	}
	if c.StartedAt != nil { // before the start, attempts change without a change of the position
		view.Wait = page.Poll(position, func(ctx context.Context) (call.Position, error) { return p.cfg.Calls.Position(ctx, r.Org(), id) })
	}
	return view, nil
}

// stop requests the end of a call, and redirects to the call's page with a notice of the success or the failure.
func (p pages) stop(ctx context.Context, r *page.Request) (page.Answer, error) {
	id := r.PathValue("id")
	notice := "The call was told to end, which takes a few seconds."
	if err := p.cfg.Calls.Stop(ctx, r.Org(), id); err != nil {
		faults, ok := page.FaultsOf(err, nil)
		if !ok {
			return nil, err
		}
		notice = faults[""]
	}
	return page.SeeOther{To: page.Path("/calls", id), Notice: notice}, nil
}
