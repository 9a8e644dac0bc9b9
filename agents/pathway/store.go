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
	Latest      int        // number of the newest version; 0: none
	Production  int        // number of the version in production; 0: none
	Staging     int        // number of the version in staging; 0: none
	Promotion   *Promotion // a version that waits for its tests; nil: none
	CreatedAt   time.Time
	UpdatedAt   time.Time // of the draft
	Revision    int64     // for compare-and-set
}

// promoted returns the number of the version that waits for its tests; 0: none.
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

// Promotion is a version that goes to production when its tests have passed.
type Promotion struct {
	Number      int
	Batch       string // the batch of tests
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
	Hash      string // the graph's: see graph.Graph
	Parent    int    // number of the version from which it was forked; 0: none
	Archived  bool   // deleted: not listed, and no conversation begins with it; running ones continue
	CreatedAt time.Time
}

// Environment is an environment in which a version is published.
type Environment string

// The environments.
const (
	Production Environment = "production"
	Staging    Environment = "staging"
)

// Store stores pathways and their versions. agentstest.RunPathwayStore tests it.
//
// Given and returned values share no memory with stored ones. Documents keep their JSON values; the order of members and the spelling of
// numbers may change. Another organization's pathway is absent. Documents are encrypted at rest: the requests of their nodes may contain
// keys of other systems. Methods take part in the transaction of ctx: see callwright.Atomic. agentstest.RunPathwayCrowd tests this.
type Store interface {
	Pathways
	Versions
}

// Pathways is the part of a Store that holds pathways with their drafts.
type Pathways interface {
	// InsertPathway adds a pathway with Revision 1. CodeConflict: any organization's pathway has the same id.
	InsertPathway(ctx context.Context, p Pathway) error
	// Pathway returns one pathway. CodeNotFound: it is absent.
	Pathway(ctx context.Context, org callwright.OrgID, id string) (Pathway, error)
	// UpdatePathway replaces a pathway if its stored Revision is p.Revision, and adds one to it. CodeConflict: the Revision
	// differs; of concurrent calls with the same Revision exactly one succeeds. CodeNotFound: it is absent.
	UpdatePathway(ctx context.Context, p Pathway) error
	// DeletePathway deletes a pathway with its versions and chats, whose ids can then be used again. CodeNotFound: it is absent.
	DeletePathway(ctx context.Context, org callwright.OrgID, id string) error
	// Pathways returns the pathways that l chooses, in descending order of (CreatedAt, ID), without their drafts.
	Pathways(ctx context.Context, org callwright.OrgID, l Listing) ([]Pathway, error)
	// CountPathways returns the number of an organization's pathways.
	CountPathways(ctx context.Context, org callwright.OrgID) (int, error)
}

// Listing chooses a page of pathways.
type Listing struct {
	After  callwright.Keyset // (CreatedAt, ID) of the last pathway of the previous page; zero: the first page
	Offset int               // pathways to skip after After
	Limit  int               // pathways in the page, at most
}

// Versions is the part of a Store that holds the versions of pathways.
type Versions interface {
	// InsertVersion adds a version. CodeConflict: the pathway has a version with this number, archived or not; of concurrent calls
	// exactly one succeeds. CodeNotFound: the pathway is absent.
	InsertVersion(ctx context.Context, v Version) error
	// Version returns one version, even if it is archived. CodeNotFound: it is absent.
	Version(ctx context.Context, org callwright.OrgID, pathway string, number int) (Version, error)
	// VersionHash returns the Hash of a version without reading its document. CodeNotFound: it is absent.
	VersionHash(ctx context.Context, org callwright.OrgID, pathway string, number int) (string, error)
	// Versions returns at most limit versions of a pathway whose number is below before (0: any number), in descending order of
	// their numbers, without documents and without archived versions. An absent pathway has none.
	Versions(ctx context.Context, org callwright.OrgID, pathway string, before, limit int) ([]Version, error)
	// ArchiveVersion archives a version, which may already be archived. CodeNotFound: it is absent.
	ArchiveVersion(ctx context.Context, org callwright.OrgID, pathway string, number int) error
}

// Chat is a text conversation with a pathway.
type Chat struct {
	ID        string
	Org       callwright.OrgID
	Pathway   string
	Number    int    // of the version; 0: the draft
	Hash      string // the graph's
	State     json.RawMessage
	Messages  int       // number of messages of both sides, for the limit
	BusyUntil time.Time // end of a turn's claim on the chat; zero or past: none
	Completed bool
	CreatedAt time.Time
	UpdatedAt time.Time
	Revision  int64
}

// Chats stores chats. agentstest.RunChatStore tests it. Given and returned values share no memory with stored ones. Texts and JSON in
// State and in logs may contain any characters, including U+0000, and come back unchanged. Another organization's chat is absent, and so
// are the chats of a deleted pathway. Methods take part in the transaction of ctx: see callwright.Atomic.
type Chats interface {
	ChatRecords
	ChatHistory
}

// ChatRecords is the part of Chats that holds chats.
type ChatRecords interface {
	// InsertChat adds a chat with Revision 1, together with the logs of its turns. CodeConflict: any organization's chat has the
	// same id. CodeNotFound: its pathway is absent, or another organization's. After an error neither the chat nor a log is stored.
	InsertChat(ctx context.Context, c Chat, logs ...Log) error
	// Chat returns one chat. CodeNotFound: it is absent.
	Chat(ctx context.Context, org callwright.OrgID, id string) (Chat, error)
	// UpdateChat replaces a chat if its stored Revision is c.Revision, adds one to it, and adds the logs of turns. CodeConflict:
	// the Revision differs; of concurrent calls exactly one succeeds. CodeNotFound: it is absent. After an error neither the chat
	// nor a log is stored.
	UpdateChat(ctx context.Context, c Chat, logs ...Log) error
	// CountChats returns the number of an organization's chats that are not completed.
	CountChats(ctx context.Context, org callwright.OrgID) (int, error)
	// DeleteOldChats deletes at most limit chats of any organization whose UpdatedAt is before a time, with their logs, and returns
	// their number. Their ids can then be used again.
	DeleteOldChats(ctx context.Context, before time.Time, limit int) (int, error)
}

// ChatHistory is the part of Chats that reads the history of chats.
type ChatHistory interface {
	// ChatLogs returns the last logs of a chat whose Turn is below before, at most limit, by Turn. With 0 it returns the last logs
	// of the chat. Turns from releases without logs are missing. CodeNotFound: the chat is absent.
	ChatLogs(ctx context.Context, org callwright.OrgID, id string, before, limit int) ([]Log, error)
	// ChatsOf returns at most limit chats of a pathway after the keyset (CreatedAt, ID) of a chat, or the zero keyset, in
	// descending order of (CreatedAt, ID), without their State. An absent pathway has none.
	ChatsOf(ctx context.Context, org callwright.OrgID, pathway string, after callwright.Keyset, limit int) ([]Chat, error)
}

// Gate decides whether a version may go to production. Agent testing implements it; agentstest.RunGate tests it.
type Gate interface {
	// Check reads the results of the enabled scenarios that are required for promotion. All of them must have passed on exactly
	// this version (Number and Hash), in one batch; the newest batch of the version counts. An unknown pathway has no requirements.
	// With c.Start, Check begins a batch if the version has none: it returns a batch that runs or has failed instead. Check takes
	// part in the transaction of ctx: it reads and writes rows without waiting. The runner of the batch calls Service.FinishTests
	// after the end of the batch is committed.
	Check(ctx context.Context, org callwright.OrgID, c Candidate) (Verdict, error)
}

// Candidate is a version to be published to production.
type Candidate struct {
	Pathway string
	Number  int
	Hash    string
	Start   bool // begin tests that have not begun
}

// Verdict is the answer of a Gate.
type Verdict struct {
	State  GateState
	Batch  string // the batch of tests, also after its end; empty: none, or no test is required
	Reason string // human-readable; not empty if State is GateClosed
}

// GateState is the state of a gate for a version.
type GateState string

// The states of gates.
const (
	GateOpen    GateState = "open"    // no test is required, or all have passed
	GateRunning GateState = "running" // the tests run
	GateClosed  GateState = "closed"  // a test has failed, could not be judged, or has not run
)

// Selector selects a version of a pathway: the version in an environment at the beginning of a conversation, or a number. The zero
// Selector is the draft.
type Selector struct {
	Environment Environment // empty: Number selects
	Number      int         // 0: the draft
}
