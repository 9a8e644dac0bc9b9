package triagestore

import (
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/triage"
)

type issueRow struct {
	bun.BaseModel `bun:"table:triage_issues,alias:triage_issues"`

	ID             string          `bun:"id,pk"`
	Org            string          `bun:"org"`
	Number         int             `bun:"number"`
	Title          string          `bun:"title"`
	Status         string          `bun:"status"`
	StatusRank     int64           `bun:"status_rank"` // rank of the status, for sorting
	Severity       string          `bun:"severity"`
	SeverityRank   int64           `bun:"severity_rank"`
	Source         string          `bun:"source"`
	Category       string          `bun:"category"`
	OwnerID        string          `bun:"owner_id"`
	AssigneeID     string          `bun:"assignee_id"`
	Author         actorJSON       `bun:"author,type:jsonb"`
	ExternalLink   string          `bun:"external_link"`
	MergedInto     string          `bun:"merged_into"`
	Resources      int             `bun:"resources"`
	Flags          int             `bun:"flags"`
	Relations      int             `bun:"relations"`
	Session        *sessionRefJSON `bun:"session,type:jsonb"`
	Working        int             `bun:"working"`
	CreatedAt      time.Time       `bun:"created_at"`
	UpdatedAt      time.Time       `bun:"updated_at"`
	LastActivityAt time.Time       `bun:"last_activity_at"`
	Edits          int64           `bun:"edits"`   // triage.Issue.Version
	Version        int64           `bun:"version"` // triage.Issue.Revision
	Description    string          `bun:"description"`
	SearchTitle    string          `bun:"search_title"` // title in lower case
	SearchText     string          `bun:"search_text"`  // description in lower case
}

// insertedOnly lists the columns of an issue that UpdateIssue does not write.
var insertedOnly = []string{"id", "org", "number", "source", "author", "created_at"}

// searched lists the columns that queries search, but do not return.
var searched = []string{"search_title", "search_text"}

// newIssueRow returns the row of an issue. It converts the searched texts to lower case with Go, because the databases convert characters
// beyond ASCII differently.
func newIssueRow(i triage.Issue) issueRow {
	return issueRow{
		ID: i.ID, Org: string(i.Org), Number: i.Number, Title: i.Title,
		Status: string(i.Status), StatusRank: i.Place(triage.SortStatus).Value,
		Severity: string(i.Severity), SeverityRank: i.Place(triage.SortSeverity).Value,
		Source: string(i.Source), Category: i.Category, OwnerID: i.OwnerID, AssigneeID: i.AssigneeID,
		Author: actorJSON(i.Author), ExternalLink: i.ExternalLink, MergedInto: i.MergedInto, Resources: i.Resources,
		Flags: i.Flags, Relations: i.Relations, Session: (*sessionRefJSON)(i.Session), Working: i.Working,
		CreatedAt: sqldb.Stored(i.CreatedAt), UpdatedAt: sqldb.Stored(i.UpdatedAt), LastActivityAt: sqldb.Stored(i.LastActivityAt),
		Edits: i.Version, Version: i.Revision, Description: i.Description,
		SearchTitle: strings.ToLower(i.Title), SearchText: strings.ToLower(i.Description),
	}
}

func (r issueRow) issue() triage.Issue {
	return triage.Issue{
		ID: r.ID, Org: callwright.OrgID(r.Org), Number: r.Number, Title: r.Title, Description: r.Description,
		Status: triage.Status(r.Status), Severity: triage.Severity(r.Severity), Source: triage.Source(r.Source),
		Category: r.Category, OwnerID: r.OwnerID, AssigneeID: r.AssigneeID, Author: triage.Actor(r.Author),
		ExternalLink: r.ExternalLink, MergedInto: r.MergedInto, Resources: r.Resources, Flags: r.Flags,
		Relations: r.Relations, Session: (*triage.SessionRef)(r.Session), Working: r.Working,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), LastActivityAt: r.LastActivityAt.UTC(),
		Version: r.Edits, Revision: r.Version,
	}
}
