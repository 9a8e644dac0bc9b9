package issues

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/triage"
)

func (p pages) showEdit(ctx context.Context, r *page.Request) (page.Answer, error) {
	i, err := p.cfg.Issues.Get(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return p.form(ctx, r, form{Issue: &i, Version: i.Version, Draft: triage.Draft{
		Title: i.Title, Description: i.Description, Status: i.Status, Severity: i.Severity, Category: i.Category, OwnerID: i.OwnerID,
		AssigneeID: i.AssigneeID, ExternalLink: i.ExternalLink,
	}}, http.StatusOK)
}

// edit changes an issue. If the form has faults, or the issue was changed after the form was opened, it shows the form again.
func (p pages) edit(ctx context.Context, r *page.Request) (page.Answer, error) {
	d := draft(r)
	i, err := p.cfg.Issues.Get(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if err := p.checkPeople(ctx, r, d, i); err != nil {
		if faults, ok := mayMend(err, nil); ok {
			return p.editAgain(ctx, r, d, faults, false)
		}
		return nil, err
	}
	i, err = p.cfg.Issues.Update(ctx, r.Org(), actor(r), r.PathValue("id"), triage.Change{
		Version: version(r), Title: &d.Title, Description: &d.Description, Category: &d.Category, OwnerID: &d.OwnerID,
		AssigneeID: &d.AssigneeID, ExternalLink: &d.ExternalLink, Status: &d.Status, Severity: &d.Severity,
	})
	faults, ok := mayMend(err, nil)
	switch {
	case ok:
		return p.editAgain(ctx, r, d, faults, errors.Is(err, callwright.ErrConflict))
	case err != nil:
		return nil, err
	}
	return to(i.ID, i.Name()+" is changed.")
}

// editAgain returns the form with the typed values. It adds the faults or, after a conflict, the fields in which the current issue differs.
// Saving the form after a conflict replaces these fields.
func (p pages) editAgain(ctx context.Context, r *page.Request, d triage.Draft, faults page.Faults, conflict bool) (page.Answer, error) {
	i, err := p.cfg.Issues.Get(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if !conflict {
		return p.form(ctx, r, form{Issue: &i, Draft: d, Version: version(r), Faults: faults}, http.StatusUnprocessableEntity)
	}
	return p.form(ctx, r, form{
		Issue: &i, Draft: d, Version: i.Version, Conflict: true, Differences: differences(i, d),
	}, http.StatusUnprocessableEntity)
}

// version returns the version of the issue in a form. If the field is missing or invalid, it returns -1, which matches no issue.
func version(r *page.Request) int64 {
	n, err := strconv.ParseInt(r.Field("version"), 10, 64)
	if err != nil || n < 1 {
		return -1 // matches no issue
	}
	return n
}

// difference is a field whose current value in the issue differs from the typed value.
type difference struct{ Name, Now, Typed string }

// differences returns the fields in which the current issue differs from the typed values.
func differences(i triage.Issue, d triage.Draft) (all []difference) {
	for _, f := range []difference{
		{"Title", i.Title, d.Title}, {"Description", i.Description, d.Description}, {"Status", page.Words(i.Status), page.Words(d.Status)},
		{"Severity", page.Words(i.Severity), page.Words(d.Severity)}, {"Category", i.Category, d.Category}, {"Owner", i.OwnerID, d.OwnerID},
		{"Assignee", i.AssigneeID, d.AssigneeID}, {"Link", i.ExternalLink, d.ExternalLink},
	} {
		if f.Now != f.Typed {
			all = append(all, f)
		}
	}
	return all
}

func (p pages) deleteIssue(ctx context.Context, r *page.Request) (page.Answer, error) {
	if err := p.cfg.Issues.Delete(ctx, r.Org(), actor(r), r.PathValue("id")); err != nil {
		return nil, err
	}
	return page.SeeOther{To: "/issues", Notice: "The issue is deleted."}, nil
}

// comment contains the data of a comment's page.
type comment struct {
	Comment triage.Comment
	Issue   triage.Issue
	Own     bool // written by the current user, who may change it
	Detail  string
	Faults  page.Faults
}

func (p pages) showComment(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.comment(ctx, r, nil)
}

// comment returns the page of a comment. If faults is not nil, the form contains the typed text.
func (p pages) comment(ctx context.Context, r *page.Request, faults page.Faults) (page.Answer, error) {
	i, err := p.cfg.Issues.Get(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	c, err := p.cfg.Issues.ReadComment(ctx, r.Org(), i.ID, r.PathValue("comment"))
	if err != nil {
		return nil, err
	}
	me := actor(r)
	data := comment{Comment: c, Issue: i, Own: c.Author.Kind == me.Kind && c.Author.ID == me.ID, Detail: c.Detail, Faults: faults}
	v := &page.View{Page: "comment", Title: "Comment on " + i.Name()}
	if faults != nil {
		v.Status, data.Detail = http.StatusUnprocessableEntity, r.Field("detail")
	}
	v.Data = data
	return v, nil
}

func (p pages) editComment(ctx context.Context, r *page.Request) (page.Answer, error) {
	_, err := p.cfg.Issues.EditComment(ctx, r.Org(), actor(r), r.PathValue("id"), r.PathValue("comment"), r.Field("detail"))
	if faults, ok := mayMend(err, nil); ok {
		return p.comment(ctx, r, faults)
	}
	if err != nil {
		return nil, err
	}
	return to(r.PathValue("id"), "The comment is changed.")
}

func (p pages) deleteComment(ctx context.Context, r *page.Request) (page.Answer, error) {
	if _, err := p.cfg.Issues.DeleteComment(ctx, r.Org(), actor(r), r.PathValue("id"), r.PathValue("comment")); err != nil {
		return nil, err
	}
	return to(r.PathValue("id"), "The comment is deleted.")
}
