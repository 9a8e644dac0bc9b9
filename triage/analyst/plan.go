package analyst

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// Limits of a plan.
const (
	maxLooked = 4 // maximum number of attachments to check, as a multiple of MaxCalls
	readTries = 2 // attempts at a step before it omits an unreadable attachment
	maxTitle  = 200
)

// plan selects at most MaxCalls attachments to read: flagged calls first, then the newest attachments. It reports the selected and the
// unreadable ones, and the number of all attachments. If it can select none, it ends the analysis with an error.
func (a *Analyst) plan(ctx context.Context, c triage.Case, s *state) (triage.Progress, error) {
	var reads, gone []string
	looked := 0
	for _, r := range byInterest(c) {
		if len(s.Plan) == a.cfg.MaxCalls || looked == maxLooked*a.cfg.MaxCalls {
			break
		}
		looked++
		e, why, err := evidence(ctx, c, r)
		switch {
		case err != nil:
			return triage.Progress{}, err
		case why != "":
			gone = append(gone, name(r)+": "+why)
		case len(e.Facts)+len(e.Lines) > 0:
			s.Plan, reads = append(s.Plan, r.ID), append(reads, name(r))
		default:
			gone = append(gone, name(r)+": it has no facts and no lines")
		}
	}
	if len(s.Plan) == 0 {
		p := stopped("Nothing can be analyzed: no resource that is attached to the issue can be read. Attach a call, for instance.")
		if len(gone) > 0 {
			p.Steps = append([]triage.Step{{Type: triage.TypeAction, Detail: list("Looked for evidence. Can't be read:", gone)}}, p.Steps...)
		}
		return p, nil
	}
	text := list(fmt.Sprintf("Reading %d of %d attached:", len(reads), len(c.Resources)), reads)
	if len(gone) > 0 {
		text += "\n" + list("Can't be read:", gone)
	}
	return triage.Progress{
		Steps: []triage.Step{{Type: triage.TypeAction, Detail: text, Metadata: map[string]any{
			"reading": len(reads), "attached": len(c.Resources), "unreadable": len(gone), "model": a.cfg.Model.Name(),
		}}},
		Next: triage.SessionActive,
	}, nil
}

// byInterest returns the attachments in reading order: calls by their newest flag, newest first, then the others, newest first.
func byInterest(c triage.Case) []triage.Resource {
	flagged := map[string]int{} // call id to the position of the call's newest flag, from 1
	for i, f := range c.Flags {
		flagged[f.CallID] = i + 1
	}
	place := func(r triage.Resource) int {
		if r.Type != triage.ResourceCall {
			return 0
		}
		return flagged[r.ResourceID]
	}
	out := slices.Clone(c.Resources)
	slices.Reverse(out)
	slices.SortStableFunc(out, func(a, b triage.Resource) int { return place(b) - place(a) })
	return out
}

// evidence reads an attachment. If it is unreadable, evidence returns the reason in why. After a temporary failure it returns
// CodeUnavailable, so that the step is retried, until readTries attempts have failed.
func evidence(ctx context.Context, c triage.Case, r triage.Resource) (e triage.Evidence, why string, err error) {
	e, err = c.Read(ctx, r)
	switch {
	case err == nil:
		return e, "", nil
	case errors.Is(err, callwright.ErrNotFound):
		return e, "it was deleted", nil
	case errors.Is(err, callwright.ErrNotImplemented):
		return e, "this server cannot read this type", nil
	case ctx.Err() != nil, c.Attempt < readTries:
		return e, "", callwright.ErrUnavailable.Because(err) // no RetryAfter: otherwise this attempt would not count
	default:
		return e, "it cannot be read at present", nil
	}
}

// name returns the name of an attachment in the feed: its type, and its title or else its id.
func name(r triage.Resource) string {
	if title := clip(r.Title, maxTitle); title != "" {
		return fmt.Sprintf("%s %q", r.Type, title)
	}
	return fmt.Sprintf("%s %s", r.Type, r.ResourceID)
}

func list(head string, items []string) string { return head + "\n- " + strings.Join(items, "\n- ") }
