package triage

import (
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// Store keeps everything of this domain. Returned values share no memory with the store, and another organization's
// rows look absent. Parts of an absent issue are refused: CodeNotFound. Package triagetest has a suite for each part.
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
	// FirstNumber; no number is given twice.
	NextNumber(ctx context.Context, org callwright.OrgID) (int, error)
	// InsertIssue adds an issue with Version and Revision 1; CodeConflict when its id or number is taken.
	InsertIssue(ctx context.Context, i Issue) error
	// Issue returns one issue; CodeNotFound when it is absent.
	Issue(ctx context.Context, org callwright.OrgID, id string) (Issue, error)
	// IssueNumbered returns the issue with a number; CodeNotFound when it is absent.
	IssueNumbered(ctx context.Context, org callwright.OrgID, number int) (Issue, error)
	// Hold returns an issue and locks it until the transaction of ctx ends. It is only called in a transaction.
	Hold(ctx context.Context, org callwright.OrgID, id string) (Issue, error)
	// UpdateIssue replaces an issue whose stored Revision equals i.Revision, and adds one to it. Another stored
	// Revision is CodeConflict and changes nothing; an absent issue is CodeNotFound. Number, Source, Author and
	// CreatedAt are never replaced. A new Description comes with a new Version.
	UpdateIssue(ctx context.Context, i Issue) error
	// DeleteIssue removes an issue and all that the store has of it: entries, comments, attachments, flags, relations
	// in either direction, sessions, report keys and views, all or none; CodeNotFound when it is absent. Parts that
	// others add at the same time are removed too, or refused as those of an absent issue. It reads no parts into
	// memory, and its number of statements does not depend on how many there are. It leaves MergedInto of other
	// issues, and their counters, to the caller. The numbers of NextNumber do not go back.
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
	Categories []string
	Resource   ResourceType // with something of this type attached
	OwnerID    string
	AssigneeID string
	Unassigned bool      // have no assignee
	Search     string    // is contained in the title or the description, whatever its case, or is the readable name
	DateField  SortField // which time Since looks at: SortCreated, SortUpdated or SortActivity (also when empty)
	Since      time.Time // included; zero: no bound

	Sort      SortField // SortActivity (also when empty), SortCreated, SortSeverity or SortStatus; then by id
	Ascending bool
	After     Place // the last issue of the page before
	Until     Place // the last issue that is looked at, see Issues.Reach; zero: no bound
	Limit     int
	Scan      int // at most so many issues are looked at for a page; 0: as many as it takes
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
	// AppendEntries adds entries of one issue, all or none. A taken id is CodeConflict, an absent issue
	// CodeNotFound. A batch costs little more than one entry.
	AppendEntries(ctx context.Context, org callwright.OrgID, issue string, entries []Entry) error
	// Entries returns the entries before a place, newest first, equal times by id; the zero place is the end of the
	// feed. The cost does not depend on the length of the feed. An absent issue has no entries. The result may end
	// early, after the second or a later entry at which the total exceeds MaxRead bytes (Entry.Size); so may that of
	// EntriesAfter.
	Entries(ctx context.Context, org callwright.OrgID, issue string, before callwright.Keyset, limit int) ([]Entry, error)
	// EntriesAfter returns the entries after a place, oldest first.
	EntriesAfter(ctx context.Context, org callwright.OrgID, issue string, after callwright.Keyset, limit int) ([]Entry, error)
}

// Comments keeps the current state of comments.
type Comments interface {
	// InsertComment adds a comment with Revision 1; CodeConflict when its id is taken.
	InsertComment(ctx context.Context, c Comment) error
	// Comment returns one comment, deleted ones too; CodeNotFound when it is absent.
	Comment(ctx context.Context, org callwright.OrgID, issue, id string) (Comment, error)
	// RevisedComments returns those of some comments of an issue, by id, that were edited or deleted, in any order. Each has at
	// most the first so many characters of its Detail.
	RevisedComments(ctx context.Context, org callwright.OrgID, issue string, ids []string, most int) ([]Comment, error)
	// UpdateComment replaces Detail, UpdatedAt and Deleted by compare-and-set on Revision, like UpdateIssue.
	UpdateComment(ctx context.Context, c Comment) error
}

// Resources keeps attachments.
type Resources interface {
	// InsertResource attaches a resource; CodeConflict when its id is taken or the resource is attached to the
	// issue.
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
	// InsertRelation adds a relation; CodeConflict when its id is taken or an equal relation exists.
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
	// InsertSession adds a session with Revision 1; CodeConflict when its id is taken.
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
	// SilentSessions returns up to limit sessions of every organization without news: pending or active ones since
	// silent, those that await input since waiting.
	SilentSessions(ctx context.Context, silent, waiting time.Time, limit int) ([]Session, error)
}

// Reports maps the keys of reports to issues.
type Reports interface {
	// ReportedIssue returns the id of a key's issue; CodeNotFound when there is none.
	ReportedIssue(ctx context.Context, org callwright.OrgID, key string) (string, error)
	// PointReports points a key at issue to, if it points at from now (an empty from: at none); else CodeConflict.
	PointReports(ctx context.Context, org callwright.OrgID, key, from, to string) error
	// MoveReports points all keys of one issue at another.
	MoveReports(ctx context.Context, org callwright.OrgID, from, to string) error
}

// Views keeps how far viewers have seen feeds.
type Views interface {
	// MarkSeen records that a viewer has seen an issue's feed up to a time. The time never goes back.
	MarkSeen(ctx context.Context, org callwright.OrgID, viewer, issue string, until time.Time) error
	// Seen returns the time up to which a viewer has seen each issue, without those never seen.
	Seen(ctx context.Context, org callwright.OrgID, viewer string, issues []string) (map[string]time.Time, error)
}
