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
// Returned values share no memory with the store. They equal what was stored: times are in UTC with microseconds, a nil list, map,
// pointer or payload stays nil, and JSON (Metadata, Payload, State) keeps its values; the order of members and the spelling of numbers
// may change. Metadata comes back with the types of encoding/json. Another organization's rows look absent. Parts of an issue that is
// absent, or another organization's, are refused: CodeNotFound. An id that was given to a row of any organization is taken for all rows
// of its kind until it is deleted: CodeConflict. Of concurrent calls that exclude each other exactly one succeeds, and the others fail as
// if they came later. A call that fails stores nothing. Methods take part in the transaction of ctx (see callwright.Atomic), and see its
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

// Issues keeps the records of issues.
type Issues interface {
	// NextNumber takes the organization's next issue number, in the transaction that inserts the issue. The first is
	// FirstNumber. No number is skipped: a transaction that fails leaves its number to the next. No number is given to two issues, also
	// after a deletion.
	NextNumber(ctx context.Context, org callwright.OrgID) (int, error)
	// InsertIssue adds an issue with Version and Revision 1, whatever i says; CodeConflict when its id is taken, or its number in the
	// organization.
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
	// DeleteIssue removes an issue and all its parts: entries, comments, attachments, flags, relations in either direction, sessions,
	// report keys and views, all or none. Their ids are free then. CodeNotFound when it is absent; of concurrent calls exactly one finds
	// it. Parts that others add at the same time are removed too, or refused as those of an absent issue. It reads no parts into memory,
	// and its number of statements does not depend on how many there are. It leaves MergedInto of other issues, and their counters, to the
	// caller. The numbers of NextNumber do not go back.
	DeleteIssue(ctx context.Context, org callwright.OrgID, id string) error
	// FindIssues returns a page of issues that match the filter, without their descriptions.
	FindIssues(ctx context.Context, org callwright.OrgID, f Filter) ([]Issue, error)
	// Reach returns the place of the last issue that may be looked at for a page: the Scan-th of those that come after After in the
	// order of the filter, or of the open ones among them when the filter wants no others and the order is by activity.
	// The zero Place means that no issue comes after that one. Scan is not 0.
	Reach(ctx context.Context, org callwright.OrgID, f Filter) (Place, error)
}

// Filter selects issues; the zero Filter selects all. All conditions must hold; the values of one condition are
// alternatives.
type Filter struct {
	Statuses   []Status
	Severities []Severity
	Categories []string     // case matters
	Resource   ResourceType // with something of this type attached
	OwnerID    string
	AssigneeID string
	Unassigned bool      // have no assignee
	Search     string    // is contained in the title or the description, or is the readable name; Unicode case is ignored, no character is special
	DateField  SortField // which time Since looks at: SortCreated, SortUpdated or SortActivity (also when empty)
	Since      time.Time // included; zero: no bound

	Sort      SortField // SortActivity (also when empty), SortCreated, SortSeverity or SortStatus; then by id
	Ascending bool
	After     Place // the last issue of the page before
	Until     Place // the last issue that is looked at, itself included, see Issues.Reach; zero: no bound
	Limit     int   // at most
	Scan      int   // at most so many issues are looked at for a page; 0: as many as it takes
}

// OnlyOpen reports whether the filter wants open issues and no others.
func (f Filter) OnlyOpen() bool {
	return len(f.Statuses) > 0 && !slices.ContainsFunc(f.Statuses, func(s Status) bool { return !s.Open() })
}

// ReachesOpen reports whether Issues.Reach counts open issues only.
func (f Filter) ReachesOpen() bool { return f.OnlyOpen() && (f.Sort == "" || f.Sort == SortActivity) }

// MaxScan is the Scan of lists for people, who would rather go on than wait.
const MaxScan = 4_000

// Place is the place of an issue in a sorted list: the sort value (microseconds since 1970, or the index among
// Severities or Statuses) and the id. The zero Place is the beginning.
type Place struct {
	Value int64
	ID    string
}

// SortField names what issues are sorted by.
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
	// AppendEntries adds entries of one issue, thousands at a time, all or none. An id that is taken, or is twice among them, is
	// CodeConflict; an absent issue is CodeNotFound. A batch costs little more than one entry.
	AppendEntries(ctx context.Context, org callwright.OrgID, issue string, entries []Entry) error
	// Entries returns the entries before a place, newest first, equal times by id; the zero place is the end of the
	// feed. The cost does not depend on the length of the feed. An absent issue has no entries. The result may end
	// early, after the second or a later entry at which the total exceeds MaxRead bytes (Entry.Size); so may that of
	// EntriesAfter.
	Entries(ctx context.Context, org callwright.OrgID, issue string, before callwright.Keyset, limit int) ([]Entry, error)
	// EntriesAfter returns the entries after a place, oldest first, equal times by id; the zero place is the beginning of the feed.
	EntriesAfter(ctx context.Context, org callwright.OrgID, issue string, after callwright.Keyset, limit int) ([]Entry, error)
}

// Comments keeps the current state of comments.
type Comments interface {
	// InsertComment adds a comment with Revision 1, whatever c says; CodeConflict when its id is taken.
	InsertComment(ctx context.Context, c Comment) error
	// Comment returns one comment, deleted ones too; CodeNotFound when it is absent.
	Comment(ctx context.Context, org callwright.OrgID, issue, id string) (Comment, error)
	// RevisedComments returns the comments of an issue with these ids that were updated (Revision above 1), in any order. Each has at
	// most the first so many characters (code points) of its Detail.
	RevisedComments(ctx context.Context, org callwright.OrgID, issue string, ids []string, most int) ([]Comment, error)
	// UpdateComment replaces Detail, UpdatedAt and Deleted by compare-and-set on Revision, like UpdateIssue.
	UpdateComment(ctx context.Context, c Comment) error
}

// Resources keeps attachments.
type Resources interface {
	// InsertResource attaches a resource; CodeConflict when its id is taken or the resource (Type and ResourceID) is attached to the
	// issue already.
	InsertResource(ctx context.Context, r Resource) error
	// Resource returns one attachment; CodeNotFound when it is absent.
	Resource(ctx context.Context, org callwright.OrgID, issue, id string) (Resource, error)
	// ResourceOf returns the attachment of a resource; CodeNotFound when it is not attached to the issue.
	ResourceOf(ctx context.Context, org callwright.OrgID, issue string, t ResourceType, resourceID string) (Resource, error)
	// ResourcesOf returns all attachments of an issue by CreatedAt and id; there are at most MaxResources.
	ResourcesOf(ctx context.Context, org callwright.OrgID, issue string) ([]Resource, error)
	// DeleteResource removes an attachment; CodeNotFound when it is absent.
	DeleteResource(ctx context.Context, org callwright.OrgID, issue, id string) error
}

// Flags keeps flags.
type Flags interface {
	// InsertFlag adds a flag; CodeConflict when its id is taken.
	InsertFlag(ctx context.Context, f Flag) error
	// Flag returns one flag; CodeNotFound when it is absent.
	Flag(ctx context.Context, org callwright.OrgID, issue, id string) (Flag, error)
	// FlagsOf returns all flags of an issue by CreatedAt and id; there are at most MaxFlags.
	FlagsOf(ctx context.Context, org callwright.OrgID, issue string) ([]Flag, error)
	// DeleteFlag removes a flag; CodeNotFound when it is absent.
	DeleteFlag(ctx context.Context, org callwright.OrgID, issue, id string) error
}

// Relations keeps relations between issues. Stored relations hold only the ids of From and To; returned ones hold
// both issues in short and Merged, as they are now.
type Relations interface {
	// InsertRelation adds a relation; CodeConflict when its id is taken or there is a relation with the same Type and ids of From and To.
	// CodeNotFound when either issue is absent. The reverse relation is another one.
	InsertRelation(ctx context.Context, r Relation) error
	// Relation returns one relation of an issue, in either direction; CodeNotFound when it is absent.
	Relation(ctx context.Context, org callwright.OrgID, issue, id string) (Relation, error)
	// RelationsOf returns all relations of an issue, in either direction, by CreatedAt and id; merges may add a few
	// beyond MaxRelations.
	RelationsOf(ctx context.Context, org callwright.OrgID, issue string) ([]Relation, error)
	// DeleteRelation removes a relation; CodeNotFound when it is absent.
	DeleteRelation(ctx context.Context, org callwright.OrgID, id string) error
}

// Sessions keeps agent sessions.
type Sessions interface {
	// InsertSession adds a session with Revision 1, whatever s says; CodeConflict when its id is taken.
	InsertSession(ctx context.Context, s Session) error
	// Session returns one session; CodeNotFound when it is absent.
	Session(ctx context.Context, org callwright.OrgID, issue, id string) (Session, error)
	// UpdateSession replaces a session by compare-and-set on Revision, like UpdateIssue. IssueID, StartedBy and
	// CreatedAt are never replaced.
	UpdateSession(ctx context.Context, s Session) error
	// SessionsOf returns the open sessions of an issue by CreatedAt and id; there are at most MaxOpenSessions.
	SessionsOf(ctx context.Context, org callwright.OrgID, issue string) ([]Session, error)
	// CountAnalyses returns the number of an organization's pending or active sessions that have an Analysis.
	CountAnalyses(ctx context.Context, org callwright.OrgID) (int, error)
	// SilentSessions returns up to limit sessions of all organizations without news, in any order: pending or active ones whose UpdatedAt
	// is before silent, and ones that await input whose UpdatedAt is before waiting.
	SilentSessions(ctx context.Context, silent, waiting time.Time, limit int) ([]Session, error)
}

// Reports maps the keys of reports to issues. Keys are any texts, of several hundred characters too; case and spaces matter.
type Reports interface {
	// ReportedIssue returns the id of a key's issue; CodeNotFound when there is none.
	ReportedIssue(ctx context.Context, org callwright.OrgID, key string) (string, error)
	// PointReports points a key at issue to, if it points at from now (an empty from: at none); else CodeConflict. CodeNotFound when to is
	// absent.
	PointReports(ctx context.Context, org callwright.OrgID, key, from, to string) error
	// MoveReports points all keys of one issue at another. An issue without keys is no error.
	MoveReports(ctx context.Context, org callwright.OrgID, from, to string) error
}

// Views keeps how far viewers have seen feeds.
type Views interface {
	// MarkSeen records that a viewer has seen an issue's feed up to a time. The time never goes back, also with concurrent calls.
	// CodeNotFound when the issue is absent.
	MarkSeen(ctx context.Context, org callwright.OrgID, viewer, issue string, until time.Time) error
	// Seen returns the time up to which a viewer has seen each issue. Issues that are absent or were never seen are left out; ids may repeat.
	Seen(ctx context.Context, org callwright.OrgID, viewer string, issues []string) (map[string]time.Time, error)
}
