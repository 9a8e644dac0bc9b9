package triageapi

import (
	"context"
	"time"

	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/triageoas"
	"github.com/callwright/callwright/triage"
)

// actorOf returns the API key of a request as the actor of its changes.
func actorOf(ctx context.Context) triage.Actor {
	p := httpapi.Principal(ctx)
	return triage.Actor{Kind: triage.ActorUser, ID: p.KeyID, Label: p.KeyName}
}

// CreateIssue serves POST /v1/triage/issues. It creates an issue.
func (a *api) CreateIssue(ctx context.Context, req *oas.TriageIssueCreate) (*oas.TriageIssueReply, error) {
	i, err := a.cfg.Issues.Create(ctx, httpapi.Org(ctx), actorOf(ctx), triage.Draft{
		Title: req.Title, Description: req.Description.Or(""), Status: triage.Status(req.Status.Or("")),
		Severity: triage.Severity(req.Severity.Or("")), Source: triage.Source(req.Source.Or("")),
		Category: req.Category.Or(""), OwnerID: req.OwnerID.Or(""), AssigneeID: req.AssigneeID.Or(""),
		ExternalLink: req.ExternalLink.Or(""),
	})
	httpapi.LogID(ctx, "issue_id", i.ID)
	return a.issueReply(ctx, i, err)
}

// dateRanges maps the values of date_range to durations.
var dateRanges = map[oas.ListIssuesDateRange]time.Duration{
	oas.ListIssuesDateRange24h: 24 * time.Hour,
	oas.ListIssuesDateRange7d:  7 * 24 * time.Hour,
	oas.ListIssuesDateRange30d: 30 * 24 * time.Hour,
	oas.ListIssuesDateRange90d: 90 * 24 * time.Hour,
}

// ListIssues serves GET /v1/triage/issues. It returns a page of issues without their descriptions.
func (a *api) ListIssues(ctx context.Context, params oas.ListIssuesParams) (*oas.TriageIssueListReply, error) {
	q := triage.Query{Cursor: params.Cursor.Or(""), Filter: triage.Filter{
		Statuses: wire.Texts[triage.Status](params.Status), Severities: wire.Texts[triage.Severity](params.Severity),
		Categories: params.Category, Resource: triage.ResourceType(params.ResourceType.Or("")),
		OwnerID: params.OwnerID.Or(""), AssigneeID: params.AssigneeID.Or(""), Search: params.Search.Or(""),
		DateField: triage.SortField(params.DateField.Or("")), Sort: triage.SortField(params.Sort.Or("")),
		Ascending: params.Order.Value == oas.ListIssuesOrderAsc, Limit: params.Limit.Or(0),
	}}
	if within, ok := params.DateRange.Get(); ok {
		q.Since = httpapi.Now(ctx).Add(-dateRanges[within])
	}
	page, err := a.cfg.Issues.List(ctx, httpapi.Org(ctx), q)
	if err != nil {
		return nil, err
	}
	unread, err := a.unread(ctx, page.Items)
	if err != nil {
		return nil, err
	}
	answer := oas.TriageIssuePage{Items: make([]oas.TriageIssue, len(page.Items)), NextCursor: wire.NilText(page.Next)}
	for n, i := range page.Items {
		answer.Items[n] = issueRecord(i, unread[i.ID])
		answer.Items[n].Description.SetToNull() // lists do not load descriptions
	}
	return &oas.TriageIssueListReply{Data: answer}, nil
}

// GetIssue serves GET /v1/triage/issues/{id}. It returns an issue.
func (a *api) GetIssue(ctx context.Context, params oas.GetIssueParams) (*oas.TriageIssueReply, error) {
	i, err := a.cfg.Issues.Get(ctx, httpapi.Org(ctx), params.ID)
	return a.issueReply(ctx, i, err)
}

// UpdateIssue serves PATCH /v1/triage/issues/{id}. It changes only the given members of an issue.
func (a *api) UpdateIssue(
	ctx context.Context, req *oas.TriageIssueUpdate, params oas.UpdateIssueParams,
) (*oas.TriageIssueReply, error) {
	ch := triage.Change{
		Version: int64(req.Version.Or(0)), Title: wire.Ptr(req.Title.Get()), Description: wire.Ptr(req.Description.Get()),
		Category: orEmpty(req.Category), OwnerID: orEmpty(req.OwnerID), AssigneeID: orEmpty(req.AssigneeID),
		ExternalLink: orEmpty(req.ExternalLink),
	}
	if status, ok := req.Status.Get(); ok {
		ch.Status = new(triage.Status(status))
	}
	if severity, ok := req.Severity.Get(); ok {
		ch.Severity = new(triage.Severity(severity))
	}
	i, err := a.cfg.Issues.Update(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, ch)
	return a.issueReply(ctx, i, err)
}

// DeleteIssue serves DELETE /v1/triage/issues/{id}. It deletes an issue.
func (a *api) DeleteIssue(ctx context.Context, params oas.DeleteIssueParams) error {
	return a.cfg.Issues.Delete(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID)
}

// orEmpty returns nil for an absent text, and an empty text for null.
func orEmpty(text oas.OptNilString) *string { return wire.Ptr(text.Or(""), text.Set) }

// DecideIssue serves POST /v1/triage/issues/{id}/decision. It accepts or declines an issue of the backlog.
func (a *api) DecideIssue(
	ctx context.Context, req *oas.TriageDecision, params oas.DecideIssueParams,
) (*oas.TriageIssueReply, error) {
	decide := a.cfg.Issues.Accept
	if req.Decision == oas.TriageDecisionDecisionDeclined {
		decide = a.cfg.Issues.Decline
	}
	i, err := decide(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, req.Detail.Or(""))
	return a.issueReply(ctx, i, err)
}

// MergeIssue serves POST /v1/triage/issues/{id}/merge. It closes an issue as a duplicate of another.
func (a *api) MergeIssue(ctx context.Context, req *oas.TriageMerge, params oas.MergeIssueParams) (*oas.TriageIssueReply, error) {
	i, err := a.cfg.Issues.Merge(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, wire.ID(req.Into))
	return a.issueReply(ctx, i, err)
}

// MarkIssueSeen serves PUT /v1/triage/issues/{id}/view. It marks an issue's feed as seen by the request's API key.
func (a *api) MarkIssueSeen(ctx context.Context, params oas.MarkIssueSeenParams) error {
	return a.cfg.Issues.View(ctx, httpapi.Org(ctx), actorOf(ctx).ID, params.ID)
}

// unread returns which of the issues have entries that the request's API key has not seen, by id.
func (a *api) unread(ctx context.Context, issues []triage.Issue) (map[string]bool, error) {
	return a.cfg.Issues.Unread(ctx, httpapi.Org(ctx), actorOf(ctx).ID, issues)
}

// issueReply returns the answer with an issue, or err.
func (a *api) issueReply(ctx context.Context, i triage.Issue, err error) (*oas.TriageIssueReply, error) {
	if err != nil {
		return nil, err
	}
	unread, err := a.unread(ctx, []triage.Issue{i})
	if err != nil {
		return nil, err
	}
	return &oas.TriageIssueReply{Data: issueRecord(i, unread[i.ID])}, nil
}

func issueRecord(i triage.Issue, unread bool) oas.TriageIssue {
	record := oas.TriageIssue{
		ID: i.ID, TriageID: i.Name(), OrgID: string(i.Org), Number: i.Number, Title: i.Title,
		Description: oas.NewNilString(i.Description), Status: oas.TriageStatus(i.Status),
		Severity: oas.TriageSeverity(i.Severity), Source: oas.TriageSource(i.Source), Category: wire.NilText(i.Category),
		OwnerID: wire.NilText(i.OwnerID), AssigneeID: wire.NilText(i.AssigneeID), AuthorID: wire.NilText(i.Author.ID),
		ExternalLink: wire.NilText(i.ExternalLink), MergedInto: wire.NilText(i.MergedInto),
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, LastActivityAt: i.LastActivityAt,
		ResourceCount: i.Resources, FlagCount: i.Flags, RelationCount: i.Relations,
		IsProcessing: i.Working > 0, HasUnreadActivity: unread, Version: int(i.Version),
	}
	record.LatestAgentSession.SetToNull()
	if i.Session != nil {
		record.LatestAgentSession.SetTo(sessionShort(*i.Session))
	}
	return record
}

func issueShort(i triage.IssueRef) oas.TriageIssueRef {
	return oas.TriageIssueRef{ID: i.ID, TriageID: i.Name(), Title: i.Title, Status: oas.TriageStatus(i.Status)}
}
