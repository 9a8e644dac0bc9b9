package triage

import (
	"time"

	"github.com/callwright/callwright"
)

// Entry is an entry of a feed: an event of the issue, or a step of an agent that works on it. It is immutable, and shows other objects as
// they were at that time.
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

	FromStatus Status // status of the issue before and after, if the entry changes it
	ToStatus   Status
	Resources  []Resource // attachments that the entry mentions
	Referenced []IssueRef // other issues that the entry mentions

	Session  *SessionRef // state of the session after a step; nil for an event
	Artifact *Artifact   // set only for TypeArtifact
}

// Keyset returns the place of the entry in its feed.
func (e Entry) Keyset() callwright.Keyset { return callwright.Keyset{At: e.CreatedAt, ID: e.ID} }

// Size estimates the size of the entry in bytes: its texts, artifact, metadata and resources.
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

// sizeOf estimates the size of a metadata value, in bytes.
func sizeOf(value any) int {
	size := 16 // the value itself, in memory
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

// MaxRead is the maximum total size of the entries of a page, in bytes. A single entry is much smaller.
const MaxRead = 2 << 20

// MaxDetail is the maximum length of an entry's Detail and of an issue's description, in characters.
const MaxDetail = 64 << 10

// EntryKind distinguishes events of the issue from steps of agents.
type EntryKind string

// The values of EntryKind.
const (
	KindIssue EntryKind = "issue" // an event of the issue
	KindAgent EntryKind = "agent" // a step of an agent
)

// EntryType is the type of an event or of a step.
type EntryType string

// The events of issues. The Metadata of a change of severity, category, assignee or owner contains "from" and "to". The edit or deletion of
// a comment is another TypeComment, whose Metadata contains "action" ("edited" or "deleted") and "comment_id".
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

// Comment is the current state of a comment. The feed contains its former texts.
type Comment struct {
	ID        string // id of its first entry
	Org       callwright.OrgID
	IssueID   string
	Author    Actor
	Detail    string // empty if the comment is deleted
	CreatedAt time.Time
	UpdatedAt time.Time
	Deleted   bool
	Revision  int64 // from 1; for the compare-and-set of UpdateComment
}
