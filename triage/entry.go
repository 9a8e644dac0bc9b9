package triage

import (
	"time"

	"github.com/callwright/callwright"
)

// Entry is one line of a feed: an event of the issue, or a step of an agent that works on it. It is immutable and shows other
// objects in their state at that time.
type Entry struct {
	ID        string
	Org       callwright.OrgID
	IssueID   string
	Kind      EntryKind
	Type      EntryType
	Actor     Actor
	Detail    string // free text, at most MaxDetail characters
	Metadata  map[string]any
	CreatedAt time.Time // later than the times of all earlier entries of the issue

	FromStatus Status // of the issue, if the entry moves it; else empty
	ToStatus   Status
	Resources  []Resource // that it mentions
	Referenced []IssueRef // other issues that it mentions

	Session  *SessionRef // of a step: its session, as it stands after the step
	Artifact *Artifact   // of a step of TypeArtifact
}

// Keyset returns the entry's place in its feed.
func (e Entry) Keyset() callwright.Keyset { return callwright.Keyset{At: e.CreatedAt, ID: e.ID} }

// Size estimates the bytes of the entry: texts, artifact and metadata.
func (e Entry) Size() int {
	size := len(e.Detail) + sizeOf(e.Metadata)
	if e.Artifact != nil {
		size += len(e.Artifact.Payload)
		for _, link := range e.Artifact.URLs {
			size += len(link)
		}
	}
	for _, r := range e.Resources {
		size += len(r.Title) + sizeOf(r.Metadata)
	}
	return size
}

// sizeOf estimates the bytes of a metadata value.
func sizeOf(value any) int {
	size := 16 // of the value itself, in memory
	switch v := value.(type) {
	case string:
		size += len(v)
	case []any:
		for _, member := range v {
			size += sizeOf(member)
		}
	case map[string]any:
		for name, member := range v {
			size += len(name) + sizeOf(member)
		}
	}
	return size
}

// MaxRead bounds the bytes of entries that are read together, and so the size of a page. Each entry is much smaller.
const MaxRead = 2 << 20

// MaxDetail bounds the text of an entry and the description of an issue, in characters.
const MaxDetail = 64 << 10

// EntryKind distinguishes events of the issue from steps of agents.
type EntryKind string

// The kinds of entries.
const (
	KindIssue EntryKind = "issue" // an event of the issue
	KindAgent EntryKind = "agent" // a step of an agent
)

// EntryType is the type of an entry.
type EntryType string

// The events of issues. A change of severity, category, assignee or owner has "from" and "to" in its Metadata. A comment that was
// edited or deleted is another TypeComment, with "action" ("edited", "deleted") and "comment_id".
const (
	TypeCreated         EntryType = "created"
	TypeStatusChanged   EntryType = "status_changed"
	TypeSeverityChanged EntryType = "severity_changed"
	TypeCategoryChanged EntryType = "category_changed"
	TypeAssigneeChanged EntryType = "assignee_changed"
	TypeOwnerChanged    EntryType = "owner_changed"
	TypeComment         EntryType = "comment"
	TypeResourceAdded   EntryType = "resource_added"
	TypeResourceRemoved EntryType = "resource_removed"
	TypeFlagAdded       EntryType = "flag_added"
	TypeFlagRemoved     EntryType = "flag_removed"
	TypeRelationAdded   EntryType = "relation_added"
	TypeRelationRemoved EntryType = "relation_removed"
	TypeAlertTransition EntryType = "alert_transition"
	TypeAccepted        EntryType = "accepted"
	TypeDeclined        EntryType = "declined"
	TypeMerged          EntryType = "merged"
)

// The steps of agents. A question is a TypeResponse that leaves the session awaiting input; a person's answer is a TypePrompt.
const (
	TypeSessionStarted EntryType = "session_started"
	TypePrompt         EntryType = "prompt"
	TypeThought        EntryType = "thought"
	TypeAction         EntryType = "action"
	TypeResponse       EntryType = "response"
	TypeArtifact       EntryType = "artifact"
	TypeError          EntryType = "error"
	TypeSessionStopped EntryType = "session_stopped"
)

// Comment is the current state of a comment. Former texts stay in the feed.
type Comment struct {
	ID        string // of its first entry
	Org       callwright.OrgID
	IssueID   string
	Author    Actor
	Detail    string // empty when it is deleted
	CreatedAt time.Time
	UpdatedAt time.Time
	Deleted   bool
	Revision  int64 // for the compare-and-set; 1 at first
}
