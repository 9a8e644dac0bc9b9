package issues

import (
	"context"
	"errors"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/triage"
)

// action is a form on the page of an issue.
type action struct {
	path   string            // below the path of the issue
	notice string            // shown after success
	names  map[string]string // maps the domain's field names to the form's
	do     func(ctx context.Context, r *page.Request, id string) error
}

// actions returns the routes of the forms on the page of an issue. The forms use different field names, so that each fault is shown in its
// form.
func (p pages) actions() []page.Route {
	attached := map[string]string{"resource_type": "resource_type", "resource_id": "resource_id"}
	flagged := map[string]string{"call_id": "flag_call", "type": "flag_type", "note": "flag_note", "message_index": "flag_line"}
	related := map[string]string{"related_issue_id": "related", "relation_type": "relation_type", "": "related"}
	answered := map[string]string{"text": "answer", "detail": "answer", "prompt": "answer"}
	all := []action{
		{"/change", "The issue is changed.", map[string]string{"assignee_id": "assignee_id"}, p.change},
		{"/accept", "Issue accepted.", map[string]string{"detail": "reason"}, p.accept},
		{"/decline", "Issue declined.", map[string]string{"detail": "reason"}, p.decline},
		{"/take", "The issue is assigned to you.", nil, p.assign},
		{"/comments", "Comment added.", map[string]string{"detail": "comment"}, p.addComment},
		{"/attachments", "It is attached.", attached, p.attach},
		{"/attachments/{part}/remove", "Attachment removed.", nil, p.detach},
		{"/flags", "The call is flagged.", flagged, p.flag},
		{"/flags/{part}/remove", "The flag is removed.", nil, p.unflag},
		{"/relations", "The issues are related.", related, p.relate},
		{"/relations/{part}/remove", "The relation is removed.", nil, p.unrelate},
		{"/merge", "The issue is merged.", map[string]string{"into": "into", "": "into"}, p.merge},
		{"/analyze", "The analysis has begun: its steps come into the feed.", map[string]string{"prompt": "prompt"}, p.analyze},
		{"/sessions/{part}/answer", "Answer sent to the agent.", answered, p.answer},
		{"/sessions/{part}/cancel", "The agent's work is cancelled.", nil, p.cancel},
	}
	routes := make([]page.Route, len(all))
	for n, a := range all {
		routes[n] = page.Route{Pattern: "POST /issues/{id}" + a.path, Serve: func(ctx context.Context, r *page.Request) (page.Answer, error) {
			id := r.PathValue("id")
			err := a.do(ctx, r, id)
			if faults, ok := mayMend(err, a.names); ok {
				return p.issue(ctx, r, faults)
			}
			if err != nil {
				return nil, err
			}
			return to(id, a.notice)
		}}
	}
	return routes
}

// change updates the status, the severity and the assignee. It returns CodeConflict if the issue was changed after the page was rendered.
func (p pages) change(ctx context.Context, r *page.Request, id string) error {
	assignee := r.Field("assignee_id")
	former, err := p.cfg.Issues.Get(ctx, r.Org(), id)
	if err != nil {
		return err
	}
	if err := p.checkPeople(ctx, r, triage.Draft{AssigneeID: assignee}, former); err != nil {
		return err
	}
	_, err = p.cfg.Issues.Update(ctx, r.Org(), actor(r), id, triage.Change{
		Version: version(r), Status: new(triage.Status(r.Field("status"))), Severity: new(triage.Severity(r.Field("severity"))), AssigneeID: &assignee,
	})
	if errors.Is(err, callwright.ErrConflict) {
		return callwright.Errorf(callwright.CodeConflict,
			"Nothing was saved, because the issue was changed meanwhile. The form shows its current state.").Because(err)
	}
	return err
}

// accept accepts an issue in the backlog.
func (p pages) accept(ctx context.Context, r *page.Request, id string) error {
	_, err := p.cfg.Issues.Accept(ctx, r.Org(), actor(r), id, r.Field("reason"))
	return err
}

// decline declines an issue in the backlog.
func (p pages) decline(ctx context.Context, r *page.Request, id string) error {
	_, err := p.cfg.Issues.Decline(ctx, r.Org(), actor(r), id, r.Field("reason"))
	return err
}

func (p pages) assign(ctx context.Context, r *page.Request, id string) error {
	_, err := p.cfg.Issues.Update(ctx, r.Org(), actor(r), id, triage.Change{AssigneeID: &r.Principal.KeyID})
	return err
}

func (p pages) addComment(ctx context.Context, r *page.Request, id string) error {
	_, err := p.cfg.Issues.Comment(ctx, r.Org(), actor(r), id, triage.CommentDraft{Detail: r.Field("comment")})
	return err
}

func (p pages) attach(ctx context.Context, r *page.Request, id string) error {
	_, _, err := p.cfg.Issues.Attach(ctx, r.Org(), actor(r), id, triage.ResourceDraft{
		Type: triage.ResourceType(r.Field("resource_type")), ResourceID: r.Field("resource_id"),
	})
	return err
}

func (p pages) detach(ctx context.Context, r *page.Request, id string) error {
	return p.cfg.Issues.Detach(ctx, r.Org(), actor(r), id, r.PathValue("part"))
}

// flag flags a line of an attached call, or the whole call.
func (p pages) flag(ctx context.Context, r *page.Request, id string) error {
	d := triage.FlagDraft{CallID: r.Field("flag_call"), Type: r.Field("flag_type"), Note: r.Field("flag_note")}
	if text := r.Field("flag_line"); text != "" {
		line, err := strconv.Atoi(text)
		if err != nil {
			return callwright.Invalid("message_index", "must be the number of a line, from 1")
		}
		line-- // lines are numbered from 1 in the form
		d.MessageIndex = &line
	}
	_, err := p.cfg.Issues.Flag(ctx, r.Org(), actor(r), id, d)
	return err
}

func (p pages) unflag(ctx context.Context, r *page.Request, id string) error {
	return p.cfg.Issues.Unflag(ctx, r.Org(), actor(r), id, r.PathValue("part"))
}

func (p pages) relate(ctx context.Context, r *page.Request, id string) error {
	_, _, err := p.cfg.Issues.Relate(ctx, r.Org(), actor(r), id, r.Field("related"), triage.RelationType(r.Field("relation_type")))
	return err
}

func (p pages) unrelate(ctx context.Context, r *page.Request, id string) error {
	return p.cfg.Issues.Unrelate(ctx, r.Org(), actor(r), id, r.PathValue("part"))
}

func (p pages) merge(ctx context.Context, r *page.Request, id string) error {
	_, err := p.cfg.Issues.Merge(ctx, r.Org(), actor(r), id, r.Field("into"))
	return err
}

func (p pages) analyze(ctx context.Context, r *page.Request, id string) error {
	_, err := p.cfg.Issues.Analyze(ctx, r.Org(), actor(r), id, r.Field("prompt"))
	return err
}

func (p pages) answer(ctx context.Context, r *page.Request, id string) error {
	_, err := p.cfg.Issues.Answer(ctx, r.Org(), actor(r), id, r.PathValue("part"), r.Field("answer"))
	return err
}

func (p pages) cancel(ctx context.Context, r *page.Request, id string) error {
	_, err := p.cfg.Issues.Cancel(ctx, r.Org(), actor(r), id, r.PathValue("part"), "")
	return err
}
