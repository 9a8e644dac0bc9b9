package triagestore

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// DeleteIssue deletes an issue with its feed and all other rows that refer to it. It returns CodeNotFound if the organization has no such
// issue.
func (s Store) DeleteIssue(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.issues.DeleteExisting(org, id); err != nil {
			return err
		}
		d.feeds.Delete(id)
		for key, issue := range d.reports.Rows() {
			if issue == id {
				d.reports.Delete(key)
			}
		}
		for key := range d.seen.Rows() {
			if key.issue == id {
				d.seen.Delete(key)
			}
		}
		return errors.Join(
			d.comments.DeleteWhere(func(c triage.Comment) bool { return c.IssueID == id }),
			d.attached.DeleteWhere(func(r triage.Resource) bool { return r.IssueID == id }),
			d.flags.DeleteWhere(func(f triage.Flag) bool { return f.IssueID == id }),
			d.relations.DeleteWhere(func(r triage.Relation) bool { return r.From.ID == id || r.To.ID == id }),
			d.sessions.DeleteWhere(func(a triage.Session) bool { return a.IssueID == id }),
		)
	})
}
