package calls

import (
	"context"
	"fmt"
	"html/template"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/internal/signaling"
)

// attempt is an attempt to connect a call, as the page of the call shows it.
type attempt struct {
	calllog.Attempt
	Number int // number on the page, starting at 1
}

// attempts returns the attempts to connect a call, or none if Config.Log is nil.
func (p pages) attempts(ctx context.Context, r *page.Request, c call.Call) ([]attempt, error) {
	if p.cfg.Log == nil {
		return nil, nil
	}
	found, err := p.cfg.Log.Attempts(ctx, r.Org(), c.ID)
	all := make([]attempt, len(found))
	for i, a := range found {
		all[i] = attempt{a, i + 1}
	}
	return all, err
}

// Inbound reports whether the peer is the caller.
func (a attempt) Inbound() bool { return a.Direction == sip.Inbound }

// Step returns the id of the element that shows a step of the ladder.
func (a attempt) Step(i int) string { return fmt.Sprintf("sip-%d-%d", a.Number, i+1) }

// StepText describes a step in a few words.
func (attempt) StepText(e ladder.Event) string { return signaling.Text(e) }

// Picture returns the ladder as SVG. Each message links to its step.
func (a attempt) Picture() template.HTML {
	return signaling.Ladder(fmt.Sprintf("ladder-%d", a.Number), fmt.Sprintf("SIP messages of attempt %d", a.Number), a.Attempt, a.Step)
}
