package triage

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// Store keeps everything of this domain. What it returns shares no memory with what it keeps, and what is another
// organization's is absent. What belongs to an issue that is absent is not taken: CodeNotFound. Its parts are tested one by
// one by package triagetest.
type Store interface {
	Issues
	Feed
	Comments
	Resources
	Flags
	Relations
	Sessions
	Reports
	Views
}

// Issues keeps the records of issues.
type Issues interface {
	// NextNumber takes the next number of an organization's issues, in the transaction that inserts the issue: the first
	// is FirstNumber, and none is given out twice.
	NextNumber(ctx context.Context, org callwright.OrgID) (int, error)
	// InsertIssue adds an issue with Version and Revision 1; CodeConflict when its id or number is taken.
	InsertIssue(ctx context.Context, i Issue) error
	// Issue is one issue; CodeNotFound when it is absent.
	Issue(ctx context.Context, org callwright.OrgID, id string) (Issue, error)
	// Hold is Issue, and until the transaction of ctx ends it has others that hold the same issue wait. It is called in
	// a transaction.
	Hold(ctx context.Context, org callwright.OrgID, id string) (Issue, error)
	// UpdateIssue replaces an issue whose stored Revision is i.Revision and adds one to it; CodeConflict, with nothing
	// changed, when somebody else was first; CodeNotFound when it is absent. Number, Source, Author and CreatedAt stay
	// as they were inserted. Another Description comes with another Version.
	UpdateIssue(ctx context.Context, i Issue) error
	// FindIssues is a page of issues as the filter says, without their descriptions.
	FindIssues(ctx context.Context, org callwright.OrgID, f Filter) ([]Issue, error)
}

// Filter chooses issues; the zero Filter all of them. Conditions add up, the values of one are alternatives.
type Filter struct {
	Statuses   []Status
	Severities []Severity
	Categories []string
	Resource   ResourceType // with something of this type attached
	OwnerID    string
	AssigneeID string
	Search     string    // is contained in the title or the description, whatever its case, or is the readable name
	DateField  SortField // which time Since looks at: SortCreated, SortUpdated or SortActivity (also when empty)
	Since      time.Time // included; zero: no bound

	Sort      SortField // SortActivity (also when empty), SortCreated, SortSeverity or SortStatus; then by id
	Ascending bool
	After     Place // the last issue of the page before
	Limit     int
}

// Place is where an issue stands in a list: the value that it is sorted by, microseconds since 1970 or the place among
// Severities or Statuses, and its id. The zero Place is the beginning.
type Place struct {
	Value int64
	ID    string
}

// SortField is what issues are sorted by.
type SortField string

// The fields.
const (
	SortActivity SortField = "last_activity_at"
	SortCreated  SortField = "created_at"
	SortUpdated  SortField = "updated_at" // for Filter.DateField only
	SortSeverity SortField = "severity"
	SortStatus   SortField = "status"
)

// Feed keeps entries.
type Feed interface {
	// AppendEntries adds entries of one issue; CodeConflict, with nothing added, when an id is taken, CodeNotFound when
	// the issue is absent. Several at once cost little more than one.
	AppendEntries(ctx context.Context, org callwright.OrgID, issue string, entries []Entry) error
	// Entries are those before a place, the newest first, equal times by id; a zero place is the end of the feed. It
	// costs the same however long the feed is. An absent issue has none. It may end early, with the entry, but not
	// the first, with which all have more than MaxRead bytes (Entry.Size); so may EntriesAfter.
	Entries(ctx context.Context, org callwright.OrgID, issue string, before callwright.Keyset, limit int) ([]Entry, error)
	// EntriesAfter are those after a place, the oldest first.
	EntriesAfter(ctx context.Context, org callwright.OrgID, issue string, after callwright.Keyset, limit int) ([]Entry, error)
}

// Comments keeps comments as they stand.
type Comments interface {
	// InsertComment adds a comment with Revision 1; CodeConflict when its id is taken.
	InsertComment(ctx context.Context, c Comment) error
	// Comment is one comment, deleted ones too; CodeNotFound when it is absent.
	Comment(ctx context.Context, org callwright.OrgID, issue, id string) (Comment, error)
	// UpdateComment replaces Detail, UpdatedAt and Deleted by compare-and-set on Revision: see UpdateIssue.
	UpdateComment(ctx context.Context, c Comment) error
}

// Resources keeps what is attached.
type Resources interface {
	// InsertResource attaches a resource; CodeConflict when its id is taken, or the same is attached to the issue.
	InsertResource(ctx context.Context, r Resource) error
	// Resource is one attachment; CodeNotFound when it is absent.
	Resource(ctx context.Context, org callwright.OrgID, issue, id string) (Resource, error)
	// ResourceOf is the attachment of something; CodeNotFound when it is not attached to the issue.
	ResourceOf(ctx context.Context, org callwright.OrgID, issue string, t ResourceType, resourceID string) (Resource, error)
	// ResourcesOf is all that is attached to an issue, by CreatedAt and id.
	ResourcesOf(ctx context.Context, org callwright.OrgID, issue string) ([]Resource, error)
	// DeleteResource removes an attachment; CodeNotFound when it is absent.
	DeleteResource(ctx context.Context, org callwright.OrgID, issue, id string) error
}

// Flags keeps flags.
type Flags interface {
	// InsertFlag adds a flag; CodeConflict when its id is taken.
	InsertFlag(ctx context.Context, f Flag) error
	// Flag is one flag; CodeNotFound when it is absent.
	Flag(ctx context.Context, org callwright.OrgID, issue, id string) (Flag, error)
	// FlagsOf is all flags of an issue, by CreatedAt and id.
	FlagsOf(ctx context.Context, org callwright.OrgID, issue string) ([]Flag, error)
	// DeleteFlag removes a flag; CodeNotFound when it is absent.
	DeleteFlag(ctx context.Context, org callwright.OrgID, issue, id string) error
}

// Relations keeps relations between issues. From and To have of what is stored the id only; what is read has them whole,
// as the issues stand.
type Relations interface {
	// InsertRelation adds a relation; CodeConflict when its id is taken, or there is one of the same type, from and to.
	InsertRelation(ctx context.Context, r Relation) error
	// Relation is one relation of an issue, in whichever direction; CodeNotFound when it is absent.
	Relation(ctx context.Context, org callwright.OrgID, issue, id string) (Relation, error)
	// RelationsOf is all relations of an issue, in either direction, by CreatedAt and id.
	RelationsOf(ctx context.Context, org callwright.OrgID, issue string) ([]Relation, error)
	// DeleteRelation removes a relation; CodeNotFound when it is absent.
	DeleteRelation(ctx context.Context, org callwright.OrgID, id string) error
}

// Sessions keeps agent sessions.
type Sessions interface {
	// InsertSession adds a session with Revision 1; CodeConflict when its id is taken.
	InsertSession(ctx context.Context, s Session) error
	// Session is one session; CodeNotFound when it is absent.
	Session(ctx context.Context, org callwright.OrgID, issue, id string) (Session, error)
	// UpdateSession replaces a session by compare-and-set on Revision: see UpdateIssue. IssueID, StartedBy and CreatedAt
	// stay as they were inserted.
	UpdateSession(ctx context.Context, s Session) error
	// SessionsOf is the sessions of an issue that have not ended, by CreatedAt and id.
	SessionsOf(ctx context.Context, org callwright.OrgID, issue string) ([]Session, error)
	// CountAnalyses is how many sessions of an organization with an Analysis are pending or active.
	CountAnalyses(ctx context.Context, org callwright.OrgID) (int, error)
	// SilentSessions is up to limit sessions of every organization, of which nothing was heard since a time: since
	// silent when they are pending or active, since waiting when they await input.
	SilentSessions(ctx context.Context, silent, waiting time.Time, limit int) ([]Session, error)
}

// Reports keeps which issue the reports with a key come to.
type Reports interface {
	// ReportedIssue is the id of the issue of a key; CodeNotFound when there is none.
	ReportedIssue(ctx context.Context, org callwright.OrgID, key string) (string, error)
	// PointReports has the reports with a key come to an issue, if it is from, or none when from is empty, to which they
	// came before; else CodeConflict.
	PointReports(ctx context.Context, org callwright.OrgID, key, from, to string) error
	// MoveReports has all reports that came to an issue come to another.
	MoveReports(ctx context.Context, org callwright.OrgID, from, to string) error
}

// Views keeps what people have seen.
type Views interface {
	// MarkSeen says that a viewer has seen an issue's feed up to a time. It never goes back.
	MarkSeen(ctx context.Context, org callwright.OrgID, viewer, issue string, until time.Time) error
	// Seen is until when a viewer has seen each of some issues; those of which it has seen nothing are left out.
	Seen(ctx context.Context, org callwright.OrgID, viewer string, issues []string) (map[string]time.Time, error)
}
