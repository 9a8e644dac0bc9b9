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

// The limits of a plan.
const (
	maxLooked = 4 // checked attachments for each one to read
	readTries = 2 // attempts before an unreadable attachment is omitted
	maxTitle  = 200
)

// plan selects the attachments to read: flagged ones first, then the newest. It reports unreadable ones and the
// number left out.
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
			gone = append(gone, name(r)+": nothing is known of it")
		}
	}
	if len(s.Plan) == 0 {
		p := stopped("There is nothing to analyze: nothing that is attached to the issue can be read. Attach a call, for instance.")
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

// byInterest returns the attachments in reading order.
func byInterest(c triage.Case) []triage.Resource {
	flagged := map[string]int{} // by call: the place of its newest flag, from 1
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

// evidence reads an attachment, or returns the reason why it cannot be read. A temporary failure is retried first.
func evidence(ctx context.Context, c triage.Case, r triage.Resource) (e triage.Evidence, why string, err error) {
	e, err = c.Read(ctx, r)
	switch {
	case err == nil:
		return e, "", nil
	case errors.Is(err, callwright.ErrNotFound):
		return e, "it is gone", nil
	case errors.Is(err, callwright.ErrNotImplemented):
		return e, "this server can't read what it is", nil
	case ctx.Err() != nil, c.Attempt < readTries:
		return e, "", callwright.ErrUnavailable.Because(err) // without a RetryAfter, with which it would not count as an attempt
	default:
		return e, "it can't be read at present", nil
	}
}

// name returns the name of an attachment in the feed.
func name(r triage.Resource) string {
	if title := clip(r.Title, maxTitle); title != "" {
		return fmt.Sprintf("%s %q", r.Type, title)
	}
	return fmt.Sprintf("%s %s", r.Type, r.ResourceID)
}

func list(head string, items []string) string { return head + "\n- " + strings.Join(items, "\n- ") }
