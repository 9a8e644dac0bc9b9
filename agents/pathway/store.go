package pathway

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// Pathway is a pathway with its draft.
type Pathway struct {
	ID          string
	Org         callwright.OrgID
	Name        string
	Description string
	Draft       graph.Document
	Latest      int        // number of the newest version; 0: there is none
	Production  int        // number of the version in production; 0: none
	Staging     int        // number of the version in staging; 0: none
	Promotion   *Promotion // a version that goes to production when its tests have passed
	CreatedAt   time.Time
	UpdatedAt   time.Time // of the draft
	Revision    int64     // for the compare-and-set
}

// promoted is the number of the version that waits for its tests; 0: none.
func (p Pathway) promoted() int {
	if p.Promotion == nil {
		return 0
	}
	return p.Promotion.Number
}

// waits says whether a version waits for a batch.
func (p Pathway) waits(number int, batch string) bool {
	return p.promoted() == number && p.Promotion.Batch == batch
}

// Promotion is a version on its way to production.
type Promotion struct {
	Number      int
	Batch       string // of the tests that it waits for
	RequestedAt time.Time
}

// Version is a graph that never changes.
type Version struct {
	ID        string
	Org       callwright.OrgID
	Pathway   string
	Number    int // 1, 2, ... within the pathway
	Name      string
	Document  graph.Document
	Hash      string // of the Graph
	Parent    int    // number of the version that it was forked from; 0: none
	Archived  bool   // deleted: it is in no list and can't be begun with; what runs on it goes on
	CreatedAt time.Time
}

// Environment is where a published version is in use.
type Environment string

// The environments.
const (
	Production Environment = "production"
	Staging    Environment = "staging"
)

// Store stores pathways and their versions. RunPathwayStore of agentstest tests one.
//
// Returned values share no memory with stored ones. Another organization's pathway is absent.
type Store interface {
	Pathways
	Versions
}

// Pathways is the part of a Store that holds pathways with their drafts.
type Pathways interface {
	// InsertPathway adds a pathway with Revision 1; CodeConflict when its id is taken.
	InsertPathway(ctx context.Context, p Pathway) error
	// Pathway is one pathway; CodeNotFound when it is absent.
	Pathway(ctx context.Context, org callwright.OrgID, id string) (Pathway, error)
	// UpdatePathway replaces a pathway whose stored Revision is p.Revision and adds one to it; CodeConflict when somebody
	// else was first; CodeNotFound when it is absent.
	UpdatePathway(ctx context.Context, p Pathway) error
	// DeletePathway removes a pathway with its versions and chats; CodeNotFound when it is absent.
	DeletePathway(ctx context.Context, org callwright.OrgID, id string) error
	// Pathways returns the pathways that l chooses, in descending order of (CreatedAt, ID).
	Pathways(ctx context.Context, org callwright.OrgID, l Listing) ([]Pathway, error)
	// CountPathways returns the number of an organization's pathways.
	CountPathways(ctx context.Context, org callwright.OrgID) (int, error)
}

// Listing chooses a page of pathways.
type Listing struct {
	After  callwright.Keyset // (CreatedAt, ID) of the last pathway of the page before; zero: the first page
	Offset int               // pathways to skip after After
	Limit  int               // pathways in the page, at most
}

// Versions is the part of a Store that holds the versions of pathways.
type Versions interface {
	// InsertVersion adds a version; CodeConflict when the pathway has one of the number, CodeNotFound when the pathway is
	// absent.
	InsertVersion(ctx context.Context, v Version) error
	// Version is one version, also an archived one; CodeNotFound when it is absent.
	Version(ctx context.Context, org callwright.OrgID, pathway string, number int) (Version, error)
	// Versions returns at most limit versions of a pathway whose number is below before (0: any number), in descending
	// order of their numbers, without documents and without archived versions. A pathway that is absent has none.
	Versions(ctx context.Context, org callwright.OrgID, pathway string, before, limit int) ([]Version, error)
	// ArchiveVersion archives a version; CodeNotFound when it is absent. An archived one stays as it is.
	ArchiveVersion(ctx context.Context, org callwright.OrgID, pathway string, number int) error
}

// Chat is a text conversation with a pathway.
type Chat struct {
	ID        string
	Org       callwright.OrgID
	Pathway   string
	Number    int    // of the version; 0: the draft
	Hash      string // of the graph
	State     json.RawMessage
	Messages  int       // how many both sides have said, for the limit
	BusyUntil time.Time // somebody takes a turn; zero or past: nobody does
	Completed bool
	CreatedAt time.Time
	UpdatedAt time.Time
	Revision  int64
}

// Chats keeps chats. Another organization's chat is absent.
type Chats interface {
	// InsertChat adds a chat with Revision 1; CodeConflict when its id is taken; CodeNotFound when its pathway is absent.
	InsertChat(ctx context.Context, c Chat) error
	// Chat is one chat; CodeNotFound when it is absent.
	Chat(ctx context.Context, org callwright.OrgID, id string) (Chat, error)
	// UpdateChat replaces a chat whose stored Revision is c.Revision and adds one to it; CodeConflict when somebody else
	// was first; CodeNotFound when it is absent.
	UpdateChat(ctx context.Context, c Chat) error
	// CountChats is how many of an organization's chats are not completed.
	CountChats(ctx context.Context, org callwright.OrgID) (int, error)
	// ForgetChats removes up to limit chats of every organization that were not changed since a time, and says how many.
	ForgetChats(ctx context.Context, before time.Time, limit int) (int, error)
}

// Gate says whether a version may go to production; agent testing has it. agentstest.RunGate tests one.
type Gate interface {
	// Check looks at the enabled scenarios that are required for promotion: they must all have passed on exactly this
	// version, in one batch. With c.Start, and no batch of theirs on this version yet, it begins one, in the transaction of
	// ctx: it then reads and writes rows, and waits for nothing. When a batch has ended, and that is committed, whoever
	// runs it calls Service.Settle.
	Check(ctx context.Context, org callwright.OrgID, c Candidate) (Verdict, error)
}

// Candidate is a version that wants to go to production.
type Candidate struct {
	Pathway string
	Number  int
	Hash    string
	Start   bool // begin the tests if they have not begun
}

// Verdict is what the gate says.
type Verdict struct {
	State  GateState
	Batch  string // the batch that it is about; empty: there is none
	Reason string // for people
}

// GateState is one of what a gate can say.
type GateState string

// What gates say.
const (
	GateOpen    GateState = "open"    // nothing is required, or all of it has passed
	GateRunning GateState = "running" // the tests run
	GateClosed  GateState = "closed"  // a test has failed, could not be judged, or was never run
)

// Selector names a version of a pathway: what is in an environment when a conversation begins, or a number; the zero
// Selector is the draft.
type Selector struct {
	Environment Environment
	Number      int // of the version, where Environment is empty; 0: the draft
}
