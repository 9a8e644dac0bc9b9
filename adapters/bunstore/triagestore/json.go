package triagestore

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/triage"
)

// The JSON forms of structures of issues and entries that are stored in a single column, as in agentstore/document.go. JSON whose bytes
// must be preserved is in a separate text column.

type actorJSON struct {
	Kind      triage.ActorKind `json:"kind"`
	ID        string           `json:"id"`
	Label     string           `json:"label,omitempty"`
	AvatarURL string           `json:"avatar_url,omitempty"`
}

type issueRefJSON struct {
	ID     string        `json:"id"`
	Number int           `json:"number"`
	Title  string        `json:"title"`
	Status triage.Status `json:"status"`
}

type sessionRefJSON struct {
	ID        string               `json:"id"`
	ProfileID string               `json:"profile_id,omitempty"`
	AgentName string               `json:"agent_name,omitempty"`
	Status    triage.SessionStatus `json:"status"`
}

type resourceJSON struct {
	ID         string              `json:"id"`
	Org        callwright.OrgID    `json:"org"`
	IssueID    string              `json:"issue_id"`
	Type       triage.ResourceType `json:"type"`
	ResourceID string              `json:"resource_id"`
	Title      string              `json:"title,omitempty"`
	Status     triage.Availability `json:"status,omitempty"`
	Metadata   map[string]any      `json:"metadata,omitzero"`
	AttachedBy string              `json:"attached_by,omitempty"`
	CreatedAt  time.Time           `json:"created_at"`
}

func newResourceJSON(r triage.Resource) resourceJSON {
	r.CreatedAt = sqldb.Stored(r.CreatedAt)
	return resourceJSON(r)
}

type artifactJSON struct {
	ID       string                `json:"id"`
	Type     string                `json:"type,omitempty"`
	Title    string                `json:"title,omitempty"`
	Renderer string                `json:"renderer,omitempty"`
	Status   triage.ArtifactStatus `json:"status,omitempty"`
	Payload  json.RawMessage       `json:"-"` // see feedRow
	URLs     []string              `json:"urls,omitzero"`
}

// entryJSON holds the fields of entries that no query searches. Reading them as one column takes half the time of reading separate columns.
type entryJSON struct {
	Actor      actorJSON       `json:"actor"`
	Metadata   map[string]any  `json:"metadata,omitempty"`
	FromStatus triage.Status   `json:"from_status,omitempty"`
	ToStatus   triage.Status   `json:"to_status,omitempty"`
	Resources  []resourceJSON  `json:"resources,omitempty"`
	Referenced []issueRefJSON  `json:"referenced,omitempty"`
	Session    *sessionRefJSON `json:"session,omitempty"`
	Artifact   *artifactJSON   `json:"artifact,omitempty"`
}

type inquiryJSON struct {
	Prompt  string          `json:"prompt,omitempty"`
	Answers []string        `json:"answers,omitzero"`
	Step    int             `json:"step,omitempty"`
	Since   time.Time       `json:"since"`
	State   json.RawMessage `json:"-"` // see sessionRow
}

func newInquiryJSON(a *triage.Analysis) *inquiryJSON {
	if a == nil {
		return nil
	}
	j := inquiryJSON(*a)
	j.Since = sqldb.Stored(j.Since)
	return &j
}

// These conversions check at compile time that the types contain the same fields.
var (
	_ = actorJSON(triage.Actor{})
	_ = issueRefJSON(triage.IssueRef{})
	_ = sessionRefJSON(triage.SessionRef{})
	_ = artifactJSON(triage.Artifact{})
)

// rawText converts JSON to the value of a text column. It returns nil, which is stored as NULL, for nil.
func rawText(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	text := string(raw)
	return &text
}

// rawJSON converts the value of a text column to JSON. It returns nil for nil.
func rawJSON(text *string) json.RawMessage {
	if text == nil {
		return nil
	}
	return json.RawMessage(*text)
}
