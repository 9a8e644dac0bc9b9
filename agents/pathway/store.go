package pathway

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// Pathway contains a pathway's names, its draft, and the numbers of its versions in use.
type Pathway struct {
	ID          string
	Org         callwright.OrgID
	Name        string
	Description string
	Draft       graph.Document
	Latest      int        // number of the newest version; 0 if there is none
	Production  int        // number of the version in production; 0 if there is none
	Staging     int        // number of the version in staging; 0 if there is none
	Promotion   *Promotion // version that waits for its tests; may be nil
	CreatedAt   time.Time
	UpdatedAt   time.Time // last change of the name, description or draft
	Revision    int64     // incremented by every update, for compare-and-set
}

// promoted returns the number of the version that waits for its tests, or 0.
func (p Pathway) promoted() int {
	if p.Promotion == nil {
		return 0
	}
	return p.Promotion.Number
}

// waits reports whether a version waits for a batch of tests.
func (p Pathway) waits(number int, batch string) bool {
	return p.promoted() == number && p.Promotion.Batch == batch
}

// Promotion identifies the version that will be published to production when its tests have passed.
type Promotion struct {
	Number      int
	Batch       string // id of the batch of tests
	RequestedAt time.Time
}

// Version is an immutable document of a pathway.
type Version struct {
	ID        string
	Org       callwright.OrgID
	Pathway   string
	Number    int // 1, 2, ... within the pathway
	Name      string
	Document  graph.Document
	Hash      string // hash of the graph: see graph.Graph
	Parent    int    // number of the version from which it was forked; 0 if there is none
	Archived  bool   // deleted: it is not listed, and no new conversation uses it; running conversations continue
	CreatedAt time.Time
}

// Environment names an environment in which a version can be published.
type Environment string

// The environments for versions.
const (
	Production Environment = "production"
	Staging    Environment = "staging"
)

// Store stores pathways and their versions. agentstest.RunPathwayStore tests it.
//
// Given and returned values share no memory with stored values. Documents keep their JSON values, but the order of members and the spelling
// of numbers may change. Another organization's pathway counts as absent. Documents are encrypted at rest: the requests of their nodes may
// contain keys of other systems. Methods participate in the transaction of ctx: see callwright.Atomic. agentstest.RunPathwayCrowd tests
// this.
type Store interface {
	Pathways
	Versions
}

// Pathways stores pathways with their drafts, as part of a Store.
type Pathways interface {
	// InsertPathway adds a pathway with Revision 1. It returns CodeConflict if a pathway of any organization has the same id.
	InsertPathway(ctx context.Context, p Pathway) error
	// Pathway returns one pathway. It returns CodeNotFound if the pathway is absent.
	Pathway(ctx context.Context, org callwright.OrgID, id string) (Pathway, error)
	// UpdatePathway replaces a pathway whose stored Revision is p.Revision, and increments the Revision. It returns CodeConflict if the
	// Revision differs, and CodeNotFound if the pathway is absent. Of concurrent calls with the same Revision, exactly one succeeds.
	UpdatePathway(ctx context.Context, p Pathway) error
	// DeletePathway deletes a pathway with its versions and chats. Their ids can then be used again. It returns CodeNotFound if the pathway
	// is absent.
	DeletePathway(ctx context.Context, org callwright.OrgID, id string) error
	// Pathways returns the pathways that l selects, in descending order of (CreatedAt, ID), without their drafts.
	Pathways(ctx context.Context, org callwright.OrgID, l Listing) ([]Pathway, error)
	// CountPathways returns the number of an organization's pathways.
	CountPathways(ctx context.Context, org callwright.OrgID) (int, error)
}

// Listing selects a page of pathways.
type Listing struct {
	After  callwright.Keyset // (CreatedAt, ID) of the previous page's last pathway; zero means the first page
	Offset int               // number of pathways to skip beyond the keyset
	Limit  int               // maximum number of pathways on the page
}

// Versions stores the versions of pathways, as part of a Store.
type Versions interface {
	// InsertVersion adds a version. It returns CodeConflict if the pathway has a version with this number, archived or not, and
	// CodeNotFound if the pathway is absent. Of concurrent calls with the same number, exactly one succeeds.
	InsertVersion(ctx context.Context, v Version) error
	// Version returns one version, even if it is archived. It returns CodeNotFound if the version is absent.
	Version(ctx context.Context, org callwright.OrgID, pathway string, number int) (Version, error)
	// VersionHash returns the Hash of a version without reading its document. It returns CodeNotFound if the version is absent.
	VersionHash(ctx context.Context, org callwright.OrgID, pathway string, number int) (string, error)
	// Versions returns the newest versions of a pathway, at most limit, in descending order of their numbers. Unless the parameter before
	// is 0, it returns only versions with a lower number. It omits documents and archived versions. For an absent pathway it returns none.
	Versions(ctx context.Context, org callwright.OrgID, pathway string, before, limit int) ([]Version, error)
	// ArchiveVersion archives a version, which may already be archived. It returns CodeNotFound if the version is absent.
	ArchiveVersion(ctx context.Context, org callwright.OrgID, pathway string, number int) error
}

// Chat is a text conversation with a pathway.
type Chat struct {
	ID        string
	Org       callwright.OrgID
	Pathway   string
	Number    int    // number of the version; 0 means the draft
	Hash      string // hash of the graph
	State     json.RawMessage
	Messages  int       // number of messages of both sides, for the limit MaxMessages
	BusyUntil time.Time // end of a turn's claim on the chat; zero or past if no turn claims it
	Completed bool
	CreatedAt time.Time
	UpdatedAt time.Time
	Revision  int64
}

// Chats stores chats. agentstest.RunChatStore tests it. Given and returned values share no memory with stored values. Texts and JSON in
// State and in logs may contain any characters, including U+0000, and are returned unchanged. Another organization's chats and the chats of
// a deleted pathway count as absent. Methods participate in the transaction of ctx: see callwright.Atomic.
type Chats interface {
	ChatRecords
	ChatHistory
}

// ChatRecords stores chats and the logs of their turns, as part of Chats.
type ChatRecords interface {
	// InsertChat adds a chat with Revision 1, together with the logs of its turns. It returns CodeConflict if a chat of any organization
	// has the same id, and CodeNotFound if its pathway is absent or belongs to another organization. After an error neither the chat nor a
	// log is stored.
	InsertChat(ctx context.Context, c Chat, logs ...Log) error
	// Chat returns one chat. It returns CodeNotFound if the chat is absent.
	Chat(ctx context.Context, org callwright.OrgID, id string) (Chat, error)
	// UpdateChat replaces a chat whose stored Revision is c.Revision, increments the Revision, and adds the logs of turns. It returns
	// CodeConflict if the Revision differs, and CodeNotFound if the chat is absent. Of concurrent calls with the same Revision, exactly one
	// succeeds. After an error neither the chat nor a log is stored.
	UpdateChat(ctx context.Context, c Chat, logs ...Log) error
	// CountChats returns the number of an organization's chats that are not completed.
	CountChats(ctx context.Context, org callwright.OrgID) (int, error)
	// DeleteOldChats deletes at most limit chats of any organization whose UpdatedAt is before the given time, with their logs, and returns
	// the number of deleted chats. Their ids can then be used again.
	DeleteOldChats(ctx context.Context, before time.Time, limit int) (int, error)
}

// ChatHistory reads the chats of a pathway and the logs of chats, as part of Chats.
type ChatHistory interface {
	// ChatLogs returns the last logs of a chat, at most limit, in the order of Turn. Unless the parameter before is 0, it returns only logs
	// with a lower Turn. Turns that older releases ran without logs are missing. It returns CodeNotFound if the chat is absent.
	ChatLogs(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]Log, error)
	// ChatsOf returns at most limit chats of a pathway in descending order of (CreatedAt, ID), without their State. They follow the keyset,
	// which is the (CreatedAt, ID) of a chat or zero. For an absent pathway it returns none.
	ChatsOf(ctx context.Context, org callwright.OrgID, pathway string, after callwright.Keyset, limit int) ([]Chat, error)
}

// Gate decides whether a version may be published to production. Agent testing implements it, and agentstest.RunGate tests it.
type Gate interface {
	// Check returns the verdict on a version. All enabled scenarios that are required for promotion must have passed on exactly this
	// version (Number and Hash) in one batch; the newest batch of the version counts. An unknown pathway has no requirements. With c.Start,
	// Check begins a batch if the version has none. If the version has a running or failed batch, the verdict names it. Check participates
	// in the transaction of ctx: it reads and writes rows without waiting. The runner of the batch calls Service.FinishTests after the end
	// of the batch is committed.
	Check(ctx context.Context, org callwright.OrgID, c Candidate) (Verdict, error)
}

// Candidate identifies a version that may be published to production.
type Candidate struct {
	Pathway string
	Number  int
	Hash    string
	Start   bool // begins tests that have not begun
}

// Verdict is the decision of a Gate on a version.
type Verdict struct {
	State  GateState
	Batch  string // id of the running or finished batch of tests; empty if there is none or no test is required
	Reason string // human-readable; not empty if State is GateClosed
}

// GateState names the state of a gate for a version.
type GateState string

// The states of gates.
const (
	GateOpen    GateState = "open"    // no test is required, or all tests have passed
	GateRunning GateState = "running" // the tests are running
	GateClosed  GateState = "closed"  // a test has failed, could not be judged, or has not run
)

// Selector selects a version of a pathway, either by its number or as the version in an environment at the beginning of a conversation. The
// zero Selector selects the draft.
type Selector struct {
	Environment Environment // if empty, Number selects the version
	Number      int         // 0 means the draft
}
