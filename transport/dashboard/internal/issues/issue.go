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

// issue contains the data of an issue's page.
type issue struct {
	Issue     triage.Issue
	Feed      []entry // newest first
	Next      string  // path of the page with older entries; may be empty
	Older     bool    // Feed is not the newest page
	Resources []triage.Resource
	Flags     []triage.Flag
	Relations []triage.Relation
	Names     map[string]string // names of the assignee and the owner, by id
	People    []Person          // possible assignees; if nil, the user types an id

	Statuses   []triage.Status
	Severities []triage.Severity
	Types      []triage.ResourceType
	MaxReason  int               // in characters
	Analyzes   bool              // an analyst is configured
	Typed      map[string]string // submitted values of a form with faults, by field
	Faults     page.Faults
}

func (p pages) show(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.issue(ctx, r, nil)
}

// issue returns the page of an issue. It also marks the issue as read by the user, unless it renders for a stream. If faults is not nil,
// the status is 422 and the forms contain the submitted values.
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
		data.Next = r.Below(page.Path("/issues", id)) + r.With("cursor", feed.Next) // below the page's path, because r may be a form's path
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

// nameAll returns the names of an issue's assignee and owner by id. In the entries of the feed that change them, it replaces known ids by
// names.
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

// parts reads the resources, flags and relations of an issue.
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

// seen marks an unread issue as read by the user. The rendering of a stream does not mark it.
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

// state holds the values that the function changed compares to detect a change of an issue.
type state struct {
	revision int64 // because some changes add no entry to the feed
	activity time.Time
}

// changed returns a function that waits until the revision or the last activity of an issue differs from that in i.
func (p pages) changed(org callwright.OrgID, i triage.Issue) func(ctx context.Context) error {
	return page.Poll(state{i.Revision, i.LastActivityAt}, func(ctx context.Context) (state, error) {
		now, err := p.cfg.Issues.Get(ctx, org, i.ID)
		return state{now.Revision, now.LastActivityAt}, err
	})
}
