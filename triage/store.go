package triage

import (
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// Store stores all data of this domain. Package triagetest contains a test suite for each part, and RunStore for all parts. RunActivity
// tests the service with a store.
//
// Returned values share no memory with the store. They equal the stored values. Times are in UTC with microseconds. A nil list, map,
// pointer or payload stays nil. JSON (Metadata, Payload, State) keeps its values, but the order of members and the spelling of numbers may
// change. Metadata is returned with the types of encoding/json.
//
// Rows of another organization are treated as absent. Access to a part of an absent issue, or of another organization's issue, causes
// CodeNotFound, unless the method's comment says otherwise. An id may be used by only one row of a kind across all organizations, until the
// row is deleted. A second use causes CodeConflict. Of concurrent calls that exclude each other, exactly one succeeds, and the others fail
// as if they came later. A call that fails stores nothing. Methods take part in the transaction of ctx (see callwright.Atomic), and see its
// changes.
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

// Issues stores the records of issues.
type Issues interface {
	// NextNumber claims the organization's next issue number, in the transaction that inserts the issue. The first number is FirstNumber.
	// No number is skipped: if the transaction fails, the next one receives the number. No two issues receive the same number, even after a
	// deletion.
	NextNumber(ctx context.Context, org callwright.OrgID) (int, error)
	// InsertIssue inserts an issue. It stores Version 1 and Revision 1, and ignores those of i. It returns CodeConflict if the id, or the
	// number within the organization, exists.
	InsertIssue(ctx context.Context, i Issue) error
	// Issue returns an issue, or CodeNotFound if it is absent.
	Issue(ctx context.Context, org callwright.OrgID, id string) (Issue, error)
	// IssueNumbered returns the issue with the given number, or CodeNotFound if it is absent.
	IssueNumbered(ctx context.Context, org callwright.OrgID, number int) (Issue, error)
	// Hold returns an issue and locks it until the transaction of ctx ends, or returns CodeNotFound if it is absent. Hold and DeleteIssue
	// of other transactions wait meanwhile. The same transaction may hold the issue again. Hold is called only in a transaction.
	Hold(ctx context.Context, org callwright.OrgID, id string) (Issue, error)
	// UpdateIssue replaces an issue if its stored Revision equals i.Revision, and increments the Revision. It returns CodeConflict for
	// another stored Revision, and CodeNotFound if the issue is absent. It never replaces Number, Source, Author and CreatedAt. It stores
	// i.Version as it is. Callers change Description only together with Version.
	UpdateIssue(ctx context.Context, i Issue) error
	// DeleteIssue deletes an issue and all its parts, or nothing: entries, comments, attachments, flags, relations in either direction,
	// sessions, report keys and views. Their ids can be used again. It returns CodeNotFound if the issue is absent; of concurrent calls,
	// exactly one succeeds. Parts that are added concurrently are deleted too, or refused as parts of an absent issue.
	//
	// DeleteIssue must not read the parts into memory, and its number of statements must not depend on the number of parts. It does not
	// change MergedInto and the counters of other issues. The numbers of NextNumber do not go back.
	DeleteIssue(ctx context.Context, org callwright.OrgID, id string) error
	// FindIssues returns a page of issues that match the filter, without their descriptions.
	FindIssues(ctx context.Context, org callwright.OrgID, f Filter) ([]Issue, error)
	// Reach returns the place of the last issue that a page may examine: the Scan-th issue after After in the filter's order. It counts
	// only open issues if Filter.ReachesOpen. It returns the zero Place if no issue follows that one. Scan is not 0.
	Reach(ctx context.Context, org callwright.OrgID, f Filter) (Place, error)
}

// Filter selects the issues that satisfy all its conditions. The values of one condition are alternatives. The zero Filter selects all
// issues.
type Filter struct {
	Statuses   []Status
	Severities []Severity
	Categories []string     // case-sensitive
	Resource   ResourceType // type of which the issue has an attachment
	OwnerID    string
	AssigneeID string
	Unassigned bool      // only issues without an assignee
	Search     string    // literal text in the title or description, ignoring Unicode case, or the readable name
	DateField  SortField // time that Since applies to: SortActivity (default), SortCreated or SortUpdated
	Since      time.Time // inclusive; zero means no limit

	Sort      SortField // SortActivity (default), SortCreated, SortSeverity or SortStatus; ties by id
	Ascending bool
	After     Place // place of the last issue of the previous page
	Until     Place // place of the last issue to examine, inclusive: see Issues.Reach; zero means no limit
	Limit     int   // maximum number of issues
	Scan      int   // maximum number of issues examined for a page; 0 means no limit
}

// OnlyOpen reports whether the filter selects only open issues.
func (f Filter) OnlyOpen() bool {
	return len(f.Statuses) > 0 && !slices.ContainsFunc(f.Statuses, func(s Status) bool { return !s.Open() })
}

// ReachesOpen reports whether Issues.Reach counts only open issues: the filter selects only these, and sorts by activity.
func (f Filter) ReachesOpen() bool { return f.OnlyOpen() && (f.Sort == "" || f.Sort == SortActivity) }

// MaxScan is the Scan of interactive lists. Pages may be short, so that users do not wait long.
const MaxScan = 4_000

// Place is the place of an issue in a sorted list. Value is the sort value: microseconds since 1970, or the index in Severities or
// Statuses. The zero Place is the beginning.
type Place struct {
	Value int64
	ID    string
}

// SortField is a field by which issues are sorted.
type SortField string

// The values of SortField.
const (
	SortActivity SortField = "last_activity_at"
	SortCreated  SortField = "created_at"
	SortUpdated  SortField = "updated_at" // only for Filter.DateField
	SortSeverity SortField = "severity"
	SortStatus   SortField = "status"
)

// Feed stores entries.
type Feed interface {
	// AppendEntries appends entries to an issue's feed, all or none; there may be thousands. It returns CodeConflict if an id exists or is
	// repeated, and CodeNotFound if the issue is absent. A batch must cost little more than a single entry.
	AppendEntries(ctx context.Context, org callwright.OrgID, issue string, entries []Entry) error
	// Entries returns at most limit entries before a place, newest first, with ties by id. The zero place is the end of the feed. An absent
	// issue has no entries. The cost must not depend on the length of the feed. The result may end early, with the entry whose size
	// (Entry.Size) makes the total exceed MaxRead bytes, but not before the second entry.
	Entries(ctx context.Context, org callwright.OrgID, issue string, before callwright.Keyset, limit int) ([]Entry, error)
	// EntriesAfter returns at most limit entries after a place, oldest first, with ties by id. The zero place is the beginning of the feed.
	// The result may end early, as with Entries.
	EntriesAfter(ctx context.Context, org callwright.OrgID, issue string, after callwright.Keyset, limit int) ([]Entry, error)
}

// Comments stores the current state of comments.
type Comments interface {
	// InsertComment inserts a comment with Revision 1, and ignores c.Revision. It returns CodeConflict if the id exists.
	InsertComment(ctx context.Context, c Comment) error
	// Comment returns a comment, even a deleted one, or CodeNotFound if it is absent.
	Comment(ctx context.Context, org callwright.OrgID, issue, id string) (Comment, error)
	// RevisedComments returns the comments of an issue that have one of the ids and were updated (Revision above 1), in any order. It
	// truncates each Detail to the given number of characters (code points).
	RevisedComments(ctx context.Context, org callwright.OrgID, issue string, ids []string, most int) ([]Comment, error)
	// UpdateComment replaces Detail, UpdatedAt and Deleted of a comment. It is a compare-and-set on Revision, like UpdateIssue.
	UpdateComment(ctx context.Context, c Comment) error
}

// Resources stores attachments.
type Resources interface {
	// InsertResource inserts an attachment. It returns CodeConflict if its id exists, or if the resource (Type and ResourceID) is already
	// attached to the issue.
	InsertResource(ctx context.Context, r Resource) error
	// Resource returns an attachment, or CodeNotFound if it is absent.
	Resource(ctx context.Context, org callwright.OrgID, issue, id string) (Resource, error)
	// ResourceOf returns the attachment of a resource, or CodeNotFound if the resource is not attached to the issue.
	ResourceOf(ctx context.Context, org callwright.OrgID, issue string, t ResourceType, resourceID string) (Resource, error)
	// ResourcesOf returns all attachments of an issue, at most MaxResources, sorted by CreatedAt and id.
	ResourcesOf(ctx context.Context, org callwright.OrgID, issue string) ([]Resource, error)
	// DeleteResource deletes an attachment. It returns CodeNotFound if the attachment is absent.
	DeleteResource(ctx context.Context, org callwright.OrgID, issue, id string) error
}

// Flags stores the flags on attached calls.
type Flags interface {
	// InsertFlag inserts a flag. It returns CodeConflict if the id exists.
	InsertFlag(ctx context.Context, f Flag) error
	// Flag returns a flag, or CodeNotFound if it is absent.
	Flag(ctx context.Context, org callwright.OrgID, issue, id string) (Flag, error)
	// FlagsOf returns all flags of an issue, at most MaxFlags, sorted by CreatedAt and id.
	FlagsOf(ctx context.Context, org callwright.OrgID, issue string) ([]Flag, error)
	// DeleteFlag deletes a flag. It returns CodeNotFound if the flag is absent.
	DeleteFlag(ctx context.Context, org callwright.OrgID, issue, id string) error
}

// Relations stores relations between issues. It stores only the ids of From and To. Returned relations contain the current IssueRefs of
// both issues, and Merged.
type Relations interface {
	// InsertRelation inserts a relation. It returns CodeConflict if the id exists, or a relation with the same Type and the same ids of
	// From and To. The reverse relation is a different one. It returns CodeNotFound if either issue is absent.
	InsertRelation(ctx context.Context, r Relation) error
	// Relation returns a relation of an issue, in either direction, or CodeNotFound if it is absent.
	Relation(ctx context.Context, org callwright.OrgID, issue, id string) (Relation, error)
	// RelationsOf returns all relations of an issue, in either direction, sorted by CreatedAt and id. Merges may add a few beyond
	// MaxRelations.
	RelationsOf(ctx context.Context, org callwright.OrgID, issue string) ([]Relation, error)
	// DeleteRelation deletes a relation. It returns CodeNotFound if the relation is absent.
	DeleteRelation(ctx context.Context, org callwright.OrgID, id string) error
}

// Sessions stores agent sessions.
type Sessions interface {
	// InsertSession inserts a session with Revision 1, and ignores s.Revision. It returns CodeConflict if the id exists.
	InsertSession(ctx context.Context, s Session) error
	// Session returns a session, or CodeNotFound if it is absent.
	Session(ctx context.Context, org callwright.OrgID, issue, id string) (Session, error)
	// UpdateSession replaces a session. It is a compare-and-set on Revision, like UpdateIssue. It never replaces IssueID, StartedBy and
	// CreatedAt.
	UpdateSession(ctx context.Context, s Session) error
	// SessionsOf returns the open sessions of an issue, at most MaxOpenSessions, sorted by CreatedAt and id.
	SessionsOf(ctx context.Context, org callwright.OrgID, issue string) ([]Session, error)
	// CountAnalyses returns the number of an organization's pending or active sessions with an Analysis.
	CountAnalyses(ctx context.Context, org callwright.OrgID) (int, error)
	// SilentSessions returns at most limit silent sessions of all organizations, in any order. A pending or active session is silent if its
	// UpdatedAt is before the time silent. A session that awaits input is silent if its UpdatedAt is before the time waiting.
	SilentSessions(ctx context.Context, silent, waiting time.Time, limit int) ([]Session, error)
}

// Reports maps the keys of reports to issues. Keys are arbitrary texts of up to several hundred characters. Case and spaces are
// significant.
type Reports interface {
	// ReportedIssue returns the id of a key's issue, or CodeNotFound if the key has none.
	ReportedIssue(ctx context.Context, org callwright.OrgID, key string) (string, error)
	// PointReports makes a key point at another issue. The argument from is the id of the issue at which the key must currently point, or
	// empty if the key must point at none; otherwise PointReports returns CodeConflict. The argument to is the id of the new issue.
	// PointReports returns CodeNotFound if this issue is absent.
	PointReports(ctx context.Context, org callwright.OrgID, key, from, to string) error
	// MoveReports points all keys of one issue at another. An issue without keys is no error.
	MoveReports(ctx context.Context, org callwright.OrgID, from, to string) error
}

// Views stores, for each viewer and issue, the time up to which the viewer has seen the issue's feed.
type Views interface {
	// MarkSeen records that a viewer has seen an issue's feed up to a time. It never replaces a later time, even with concurrent calls. It
	// returns CodeNotFound if the issue is absent.
	MarkSeen(ctx context.Context, org callwright.OrgID, viewer, issue string, until time.Time) error
	// Seen returns, by issue id, the time up to which a viewer has seen each issue's feed. It omits issues that are absent or were never
	// seen. Ids may repeat.
	Seen(ctx context.Context, org callwright.OrgID, viewer string, issues []string) (map[string]time.Time, error)
}
