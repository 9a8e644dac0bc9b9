package triage

import (
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// Store stores everything of this domain. Package triagetest has a suite for each part, and RunStore for all of them. RunActivity tests
// the service over a store.
//
// Returned values share no memory with the store. They equal the stored values: times are in UTC with microseconds, a nil list,
// map, pointer or payload stays nil, and JSON (Metadata, Payload, State) keeps its values; the order of members and the spelling of
// numbers may change. Metadata comes back with the types of encoding/json. Another organization's rows look absent. Parts of an
// absent issue, or of another organization's, are CodeNotFound. An id of a row of any organization cannot be used for another row
// of its kind until the row is deleted: CodeConflict. Of concurrent calls that exclude each other exactly one succeeds, and the
// others fail as if they came later. A call that fails stores nothing. Methods take part in the transaction of ctx (see
// callwright.Atomic), and see its changes.
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
	// NextNumber claims the organization's next issue number, in the transaction that inserts the issue. The first is FirstNumber.
	// No number is skipped: a transaction that fails leaves its number to the next. No number is given to two issues, also after a
	// deletion.
	NextNumber(ctx context.Context, org callwright.OrgID) (int, error)
	// InsertIssue adds an issue with Version and Revision 1, regardless of i; CodeConflict when its id, or its number in the
	// organization, exists.
	InsertIssue(ctx context.Context, i Issue) error
	// Issue returns one issue; CodeNotFound when it is absent.
	Issue(ctx context.Context, org callwright.OrgID, id string) (Issue, error)
	// IssueNumbered returns the issue with a number; CodeNotFound when it is absent.
	IssueNumbered(ctx context.Context, org callwright.OrgID, number int) (Issue, error)
	// Hold returns an issue and locks it until the transaction of ctx ends: Hold and DeleteIssue of other transactions wait. The same
	// transaction may hold it again. CodeNotFound when it is absent. It is only called in a transaction.
	Hold(ctx context.Context, org callwright.OrgID, id string) (Issue, error)
	// UpdateIssue replaces an issue whose stored Revision equals i.Revision, and adds one to it. Another stored
	// Revision is CodeConflict and changes nothing; an absent issue is CodeNotFound. Number, Source, Author and
	// CreatedAt are never replaced; Version is replaced by i.Version. A new Description comes with a new Version.
	UpdateIssue(ctx context.Context, i Issue) error
	// DeleteIssue deletes an issue and all its parts: entries, comments, attachments, flags, relations in either direction,
	// sessions, report keys and views, all or none. Their ids can then be used again. CodeNotFound when it is absent; of concurrent
	// calls exactly one finds it. Parts that are added concurrently are deleted, too, or refused as parts of an absent issue. It
	// reads no parts into memory, and its number of statements does not depend on their number. It leaves MergedInto of other
	// issues, and their counters, to the caller. The numbers of NextNumber do not go back.
	DeleteIssue(ctx context.Context, org callwright.OrgID, id string) error
	// FindIssues returns a page of issues that match the filter, without their descriptions.
	FindIssues(ctx context.Context, org callwright.OrgID, f Filter) ([]Issue, error)
	// Reach returns the place of the last issue that a page may examine: the Scan-th issue after After in the order of the filter.
	// If the filter selects open issues only and sorts by activity, only open issues count. The zero Place means that no issue
	// follows it. Scan is not 0.
	Reach(ctx context.Context, org callwright.OrgID, f Filter) (Place, error)
}

// Filter selects issues; the zero Filter selects all. All conditions must hold; the values of one condition are
// alternatives.
type Filter struct {
	Statuses   []Status
	Severities []Severity
	Categories []string     // case matters
	Resource   ResourceType // with an attachment of this type
	OwnerID    string
	AssigneeID string
	Unassigned bool      // have no assignee
	Search     string    // is contained in the title or the description, or is the readable name; Unicode case is ignored, no character is special
	DateField  SortField // time that Since applies to: SortCreated, SortUpdated or SortActivity (also when empty)
	Since      time.Time // included; zero: no bound

	Sort      SortField // SortActivity (also when empty), SortCreated, SortSeverity or SortStatus; then by id
	Ascending bool
	After     Place // the last issue of the previous page
	Until     Place // the last examined issue, inclusive, see Issues.Reach; zero: no bound
	Limit     int   // at most
	Scan      int   // maximum number of issues examined for a page; 0: unlimited
}

// OnlyOpen reports whether the filter wants open issues and no others.
func (f Filter) OnlyOpen() bool {
	return len(f.Statuses) > 0 && !slices.ContainsFunc(f.Statuses, func(s Status) bool { return !s.Open() })
}

// ReachesOpen reports whether Issues.Reach counts open issues only.
func (f Filter) ReachesOpen() bool { return f.OnlyOpen() && (f.Sort == "" || f.Sort == SortActivity) }

// MaxScan is the Scan of interactive lists, which prefer short pages to long waits.
const MaxScan = 4_000

// Place is the place of an issue in a sorted list: the sort value (microseconds since 1970, or the index among
// Severities or Statuses) and the id. The zero Place is the beginning.
type Place struct {
	Value int64
	ID    string
}

// SortField is a sort order of issues.
type SortField string

// The fields.
const (
	SortActivity SortField = "last_activity_at"
	SortCreated  SortField = "created_at"
	SortUpdated  SortField = "updated_at" // for Filter.DateField only
	SortSeverity SortField = "severity"
	SortStatus   SortField = "status"
)

// Feed stores entries.
type Feed interface {
	// AppendEntries adds entries of one issue, thousands at a time, all or none. An id that exists, or is repeated, is
	// CodeConflict; an absent issue is CodeNotFound. A batch costs little more than one entry.
	AppendEntries(ctx context.Context, org callwright.OrgID, issue string, entries []Entry) error
	// Entries returns the entries before a place, newest first, equal times by id; the zero place is the end of the feed. The cost
	// does not depend on the length of the feed. An absent issue has no entries. The result may end early, after the second or a
	// later entry at which the total exceeds MaxRead bytes (Entry.Size); the result of EntriesAfter, too.
	Entries(ctx context.Context, org callwright.OrgID, issue string, before callwright.Keyset, limit int) ([]Entry, error)
	// EntriesAfter returns the entries after a place, oldest first, equal times by id; the zero place is the beginning of the feed.
	EntriesAfter(ctx context.Context, org callwright.OrgID, issue string, after callwright.Keyset, limit int) ([]Entry, error)
}

// Comments stores the current state of comments.
type Comments interface {
	// InsertComment adds a comment with Revision 1, regardless of c; CodeConflict when its id exists.
	InsertComment(ctx context.Context, c Comment) error
	// Comment returns one comment, even a deleted one; CodeNotFound when it is absent.
	Comment(ctx context.Context, org callwright.OrgID, issue, id string) (Comment, error)
	// RevisedComments returns the comments of an issue with these ids that were updated (Revision above 1), in any order. It
	// truncates each Detail to the first most characters (code points).
	RevisedComments(ctx context.Context, org callwright.OrgID, issue string, ids []string, most int) ([]Comment, error)
	// UpdateComment replaces Detail, UpdatedAt and Deleted by compare-and-set on Revision, like UpdateIssue.
	UpdateComment(ctx context.Context, c Comment) error
}

// Resources stores attachments.
type Resources interface {
	// InsertResource attaches a resource; CodeConflict when its id exists, or the resource (Type and ResourceID) is already
	// attached to the issue.
	InsertResource(ctx context.Context, r Resource) error
	// Resource returns one attachment; CodeNotFound when it is absent.
	Resource(ctx context.Context, org callwright.OrgID, issue, id string) (Resource, error)
	// ResourceOf returns the attachment of a resource; CodeNotFound when it is not attached to the issue.
	ResourceOf(ctx context.Context, org callwright.OrgID, issue string, t ResourceType, resourceID string) (Resource, error)
	// ResourcesOf returns all attachments of an issue by CreatedAt and id, at most MaxResources.
	ResourcesOf(ctx context.Context, org callwright.OrgID, issue string) ([]Resource, error)
	// DeleteResource deletes an attachment; CodeNotFound when it is absent.
	DeleteResource(ctx context.Context, org callwright.OrgID, issue, id string) error
}

// Flags stores flags.
type Flags interface {
	// InsertFlag adds a flag; CodeConflict when its id exists.
	InsertFlag(ctx context.Context, f Flag) error
	// Flag returns one flag; CodeNotFound when it is absent.
	Flag(ctx context.Context, org callwright.OrgID, issue, id string) (Flag, error)
	// FlagsOf returns all flags of an issue by CreatedAt and id, at most MaxFlags.
	FlagsOf(ctx context.Context, org callwright.OrgID, issue string) ([]Flag, error)
	// DeleteFlag deletes a flag; CodeNotFound when it is absent.
	DeleteFlag(ctx context.Context, org callwright.OrgID, issue, id string) error
}

// Relations stores relations between issues. Stored relations hold only the ids of From and To; returned ones hold the current refs
// of both issues, and Merged.
type Relations interface {
	// InsertRelation adds a relation; CodeConflict when its id, or a relation with the same Type and ids of From and To, exists.
	// CodeNotFound when either issue is absent. The reverse relation is a different one.
	InsertRelation(ctx context.Context, r Relation) error
	// Relation returns one relation of an issue, in either direction; CodeNotFound when it is absent.
	Relation(ctx context.Context, org callwright.OrgID, issue, id string) (Relation, error)
	// RelationsOf returns all relations of an issue, in either direction, by CreatedAt and id; merges may add a few
	// beyond MaxRelations.
	RelationsOf(ctx context.Context, org callwright.OrgID, issue string) ([]Relation, error)
	// DeleteRelation deletes a relation; CodeNotFound when it is absent.
	DeleteRelation(ctx context.Context, org callwright.OrgID, id string) error
}

// Sessions stores agent sessions.
type Sessions interface {
	// InsertSession adds a session with Revision 1, regardless of s; CodeConflict when its id exists.
	InsertSession(ctx context.Context, s Session) error
	// Session returns one session; CodeNotFound when it is absent.
	Session(ctx context.Context, org callwright.OrgID, issue, id string) (Session, error)
	// UpdateSession replaces a session by compare-and-set on Revision, like UpdateIssue. IssueID, StartedBy and
	// CreatedAt are never replaced.
	UpdateSession(ctx context.Context, s Session) error
	// SessionsOf returns the open sessions of an issue by CreatedAt and id, at most MaxOpenSessions.
	SessionsOf(ctx context.Context, org callwright.OrgID, issue string) ([]Session, error)
	// CountAnalyses returns the number of an organization's pending or active sessions with an Analysis.
	CountAnalyses(ctx context.Context, org callwright.OrgID) (int, error)
	// SilentSessions returns up to limit silent sessions of all organizations, in any order: pending or active sessions with an
	// UpdatedAt before silent, and sessions that await input with an UpdatedAt before waiting.
	SilentSessions(ctx context.Context, silent, waiting time.Time, limit int) ([]Session, error)
}

// Reports maps the keys of reports to issues. Keys are arbitrary texts, up to several hundred characters; case and spaces are
// significant.
type Reports interface {
	// ReportedIssue returns the id of a key's issue; CodeNotFound without one.
	ReportedIssue(ctx context.Context, org callwright.OrgID, key string) (string, error)
	// PointReports points a key at issue to, if it now points at from (empty: at no issue); else CodeConflict. CodeNotFound when to
	// is absent.
	PointReports(ctx context.Context, org callwright.OrgID, key, from, to string) error
	// MoveReports points all keys of one issue at another. An issue without keys is no error.
	MoveReports(ctx context.Context, org callwright.OrgID, from, to string) error
}

// Views stores the times up to which viewers have seen feeds.
type Views interface {
	// MarkSeen records that a viewer has seen an issue's feed up to a time. The time never goes back, also with concurrent calls.
	// CodeNotFound when the issue is absent.
	MarkSeen(ctx context.Context, org callwright.OrgID, viewer, issue string, until time.Time) error
	// Seen returns the time up to which a viewer has seen each issue. It omits issues that are absent or were never seen; ids may
	// repeat.
	Seen(ctx context.Context, org callwright.OrgID, viewer string, issues []string) (map[string]time.Time, error)
}
