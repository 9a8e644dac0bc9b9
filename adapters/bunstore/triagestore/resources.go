package triagestore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/triage"
)

type resourceRow struct {
	bun.BaseModel `bun:"table:triage_resources"`

	ID         string         `bun:"id,pk"`
	IssueID    string         `bun:"issue_id"`
	Org        string         `bun:"org"`
	Type       string         `bun:"type"`
	ResourceID string         `bun:"resource_id"`
	Title      string         `bun:"title"`
	Status     string         `bun:"status"`
	Metadata   map[string]any `bun:"metadata,type:jsonb,nullzero"`
	AttachedBy string         `bun:"attached_by"`
	CreatedAt  time.Time      `bun:"created_at"`
}

func (r resourceRow) resource() triage.Resource {
	return triage.Resource{
		ID: r.ID, Org: callwright.OrgID(r.Org), IssueID: r.IssueID, Type: triage.ResourceType(r.Type),
		ResourceID: r.ResourceID, Title: r.Title, Status: triage.Availability(r.Status), Metadata: r.Metadata,
		AttachedBy: r.AttachedBy, CreatedAt: r.CreatedAt.UTC(),
	}
}

func newResourceRow(r triage.Resource) resourceRow {
	return resourceRow{
		ID: r.ID, IssueID: r.IssueID, Org: string(r.Org), Type: string(r.Type), ResourceID: r.ResourceID, Title: r.Title,
		Status: string(r.Status), Metadata: r.Metadata, AttachedBy: r.AttachedBy, CreatedAt: sqldb.Stored(r.CreatedAt),
	}
}

func (s Store) resources() sqldb.Rows[triage.Resource, resourceRow] {
	return sqldb.Rows[triage.Resource, resourceRow]{
		DB: s.DB.Core(), Kind: "resource", Row: sqldb.Plain(newResourceRow), Value: sqldb.Plain(resourceRow.resource), Sealed: true,
	}
}

// InsertResource attaches a resource to an issue. It returns CodeConflict if the resource is already attached, and CodeNotFound if the
// issue is absent.
func (s Store) InsertResource(ctx context.Context, r triage.Resource) error {
	return s.resources().Insert(ctx, r)
}

// Resource returns one attachment of an issue by its id, or CodeNotFound if it is absent.
func (s Store) Resource(ctx context.Context, org callwright.OrgID, issue, id string) (triage.Resource, error) {
	return part(ctx, s.resources(), org, issue, id)
}

// ResourceOf returns the attachment of a resource, given its type and its own id, or CodeNotFound if it is not attached.
func (s Store) ResourceOf(
	ctx context.Context, org callwright.OrgID, issue string, t triage.ResourceType, resourceID string,
) (triage.Resource, error) {
	return s.resources().One(ctx, []any{org, issue, t, resourceID}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("issue_id = ?", issue).Where("org = ?", org).Where("type = ?", t).Where("resource_id = ?", resourceID)
	})
}

// ResourcesOf returns all attachments of an issue, oldest first.
func (s Store) ResourcesOf(ctx context.Context, org callwright.OrgID, issue string) ([]triage.Resource, error) {
	return parts(ctx, s.resources(), org, issue)
}

// DeleteResource deletes an attachment of an issue, or returns CodeNotFound if it is absent.
func (s Store) DeleteResource(ctx context.Context, org callwright.OrgID, issue, id string) error {
	return deletePart(ctx, s.resources(), org, issue, id)
}
