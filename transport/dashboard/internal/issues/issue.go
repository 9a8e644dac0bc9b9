package issues

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/triage"
)

// issue is the page of one issue.
type issue struct {
	Issue     triage.Issue
	Feed      []entry // the newest first
	Next      string  // address of older entries; empty: none
	Older     bool    // this is not the newest page
	Resources []triage.Resource
	Flags     []triage.Flag
	Relations []triage.Relation
	Names     map[string]string // of assignee and owner, by their ids
	People    []Person          // who it may be assigned to; nil: an id is typed

	Statuses   []triage.Status
	Severities []triage.Severity
	Types      []triage.ResourceType
	MaxReason  int               // characters
	Analyzes   bool              // there is an analyst
	Typed      map[string]string // in a form with faults
	Faults     page.Faults
}

func (p pages) show(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.issue(ctx, r, nil)
}

// issue returns the page of an issue; with faults, as the form was typed.
func (p pages) issue(ctx context.Context, r *page.Request, faults page.Faults) (page.Answer, error) {
	org, id := r.Org(), r.PathValue("id")
	i, err := p.cfg.Issues.Get(ctx, org, id)
	if err != nil {
		return nil, err
	}
	data := issue{
		Issue: i, Statuses: triage.Statuses(), Severities: triage.Severities(), Types: types(), MaxReason: triage.MaxDetail, Analyzes: p.cfg.Issues.Analyzes(),
		Typed: map[string]string{}, Faults: faults, Older: r.Query("cursor") != "",
	}
	for name := range r.PostForm {
		data.Typed[name] = r.Field(name)
	}
	if err := p.parts(ctx, org, &data); err != nil {
		return nil, err
	}
	feed, err := p.cfg.Issues.Activity(ctx, org, id, triage.PageRequest{Cursor: r.Query("cursor")})
	if err != nil {
		return nil, err
	}
	if data.Feed, err = p.entries(ctx, org, id, feed.Items); err != nil {
		return nil, err
	}
	if data.Names, err = p.nameAll(ctx, r, i, data.Feed); err != nil {
		return nil, err
	}
	if data.People, err = p.people(ctx, r); err != nil {
		return nil, err
	}
	if feed.Next != "" {
		data.Next = r.Below(page.Path("/issues", id)) + r.With("cursor", feed.Next) // the page may answer a form, whose path only takes that
	}
	v := &page.View{Page: "issue", Title: i.Name() + " " + callwright.Clip(i.Title, 80), Data: data}
	switch {
	case faults != nil:
		v.Status = http.StatusUnprocessableEntity
	case !data.Older:
		v.Live, v.Wait = []string{"record", "parts", "feed"}, p.changed(org, i)
	}
	return v, p.seen(ctx, r, i)
}

// nameAll returns the names of an issue's assignee and owner, and names the former ones in its feed.
func (p pages) nameAll(ctx context.Context, r *page.Request, i triage.Issue, feed []entry) (map[string]string, error) {
	ids := []string{i.AssigneeID, i.OwnerID}
	var changes []*entry
	for n := range feed {
		if e := &feed[n]; e.Type == triage.TypeAssigneeChanged || e.Type == triage.TypeOwnerChanged {
			ids, changes = append(ids, e.From, e.To), append(changes, e)
		}
	}
	names, err := p.names(ctx, r, ids)
	for _, e := range changes {
		e.From, e.To = cmp.Or(names[e.From], e.From), cmp.Or(names[e.To], e.To)
	}
	return names, err
}

// parts reads the parts of an issue.
func (p pages) parts(ctx context.Context, org callwright.OrgID, data *issue) (err error) {
	if data.Resources, err = p.cfg.Issues.Resources(ctx, org, data.Issue.ID); err != nil {
		return err
	}
	if data.Flags, err = p.cfg.Issues.Flags(ctx, org, data.Issue.ID); err != nil {
		return err
	}
	data.Relations, err = p.cfg.Issues.Relations(ctx, org, data.Issue.ID)
	return err
}

// seen marks the feed as seen by the reader, if there is something new. A rendering for a stream does not mark it.
func (p pages) seen(ctx context.Context, r *page.Request, i triage.Issue) error {
	if r.Streams() {
		return nil
	}
	unread, err := p.cfg.Issues.Unread(ctx, r.Org(), r.Principal.KeyID, []triage.Issue{i})
	if err != nil || !unread[i.ID] {
		return err
	}
	return p.cfg.Issues.View(ctx, r.Org(), r.Principal.KeyID, i.ID)
}

// state is the part of an issue's page that changes with any action.
type state struct {
	revision int64 // not every change has an entry
	activity time.Time
}

// changed returns a function that waits until an issue, or its feed, is not as it was.
func (p pages) changed(org callwright.OrgID, i triage.Issue) func(ctx context.Context) error {
	return page.Poll(state{i.Revision, i.LastActivityAt}, func(ctx context.Context) (state, error) {
		now, err := p.cfg.Issues.Get(ctx, org, i.ID)
		return state{now.Revision, now.LastActivityAt}, err
	})
}
