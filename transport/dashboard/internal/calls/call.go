package calls

import (
	"context"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
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
	Lanes     lanes
	Partial   *conversation.Partial // what the other side is saying; nil if nothing is known, or if the page does not show the last lines
	Turns     turns
	Settings  settings
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
	data.Lanes = lanesOf(r, data.Lines.Lines)
	heard := p.heard(r.Org(), id)
	if data.Lines.Part.Next == "" && heard.Text != "" {
		data.Partial = &heard
	}
	if data.Turns, err = p.turns(ctx, r, position.Turn, data.Ended); err != nil {
		return nil, err
	}
	data.Settings = settingsOf(c, data.Turns.Turns)
	if data.Attempts, err = p.attempts(ctx, r, c); err != nil {
		return nil, err
	}
	if data.Recording, err = p.recordingOf(ctx, c, data.Lines.Lines); err != nil {
		return nil, err
	}
	view := &page.View{Page: "call", Title: c.Title(), Data: data}
	if !data.Ended {
		view.Live = []string{"facts", "lanes", "transcript", "partial", "answers", "turns", "settings", "attempts"}
	}
	if c.StartedAt != nil { // before the start, attempts change without a change of the position
		stored := page.Poll(position, func(ctx context.Context) (call.Position, error) { return p.cfg.Calls.Position(ctx, r.Org(), id) })
		view.Wait = func(ctx context.Context) error { return p.wait(ctx, stored, r.Org(), id, heard) }
	}
	return view, nil
}

// heard returns the words that the other side of a call is saying. It returns the zero Partial if this server process does not know any.
func (p pages) heard(org callwright.OrgID, id string) conversation.Partial {
	heard, _ := p.cfg.Calls.Partial(org, id)
	return heard
}

// partialEvery is the interval at which a live page looks for other partial words. They are in memory, so that looking is cheap.
const partialEvery = 500 * time.Millisecond

// wait waits until the function stored returns, or until the words that the other side is saying differ from the shown ones.
func (p pages) wait(ctx context.Context, stored func(context.Context) error, org callwright.OrgID, id string, shown conversation.Partial) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changed := make(chan error, 1)
	go func() { changed <- stored(ctx) }()
	ticker := time.NewTicker(partialEvery)
	defer ticker.Stop()
	for {
		select {
		case err := <-changed:
			return err
		case <-ticker.C:
			if p.heard(org, id) != shown {
				return nil
			}
		}
	}
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
