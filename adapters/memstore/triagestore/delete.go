package triagestore

import (
	"context"
	"maps"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// DeleteIssue deletes an issue and all of its parts.
func (s Store) DeleteIssue(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.issue(org, id); err != nil {
			return err
		}
		delete(d.issues, id)
		delete(d.feeds, id)
		maps.DeleteFunc(d.comments, func(_ string, c triage.Comment) bool { return c.IssueID == id })
		maps.DeleteFunc(d.attached, func(_ string, r triage.Resource) bool { return r.IssueID == id })
		maps.DeleteFunc(d.flags, func(_ string, f triage.Flag) bool { return f.IssueID == id })
		maps.DeleteFunc(d.relations, func(_ string, r triage.Relation) bool { return r.From.ID == id || r.To.ID == id })
		maps.DeleteFunc(d.sessions, func(_ string, a triage.Session) bool { return a.IssueID == id })
		maps.DeleteFunc(d.reports, func(_ reportKey, issue string) bool { return issue == id })
		maps.DeleteFunc(d.seen, func(key seenKey, _ time.Time) bool { return key.issue == id })
		return nil
	})
}
