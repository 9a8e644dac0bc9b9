package agentstore

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/persona"
)

type personaRow struct {
	bun.BaseModel `bun:"table:personas"`

	ID          string     `bun:"id,pk"`
	Org         string     `bun:"org"`
	Name        string     `bun:"name"`
	Role        string     `bun:"role"`
	Description string     `bun:"description"`
	Tags        []string   `bun:"tags,type:jsonb,nullzero"`
	ImageURL    string     `bun:"image_url"`
	CreatedBy   string     `bun:"created_by"`
	Production  string     `bun:"production"`
	Draft       string     `bun:"draft"`
	CreatedAt   time.Time  `bun:"created_at"`
	UpdatedAt   time.Time  `bun:"updated_at"`
	DeletedAt   *time.Time `bun:"deleted_at"`
	Version     int64      `bun:"version"` // persona.Persona.Revision
}

type personaVersionRow struct {
	bun.BaseModel `bun:"table:persona_versions"`

	ID        string    `bun:"id,pk"`
	Org       string    `bun:"org"`
	Persona   string    `bun:"persona_id"`
	Number    int       `bun:"number"`
	Type      string    `bun:"type"`
	CreatedAt time.Time `bun:"created_at"`
	UpdatedAt time.Time `bun:"updated_at"`
	Version   int64     `bun:"version"`  // persona.Version.Revision
	Document  string    `bun:"document"` // sealed personaJSON
}

// personaJSON is the JSON form of a version's content. It contains the tools as text, which preserves their bytes.
type personaJSON struct {
	Orchestration  string          `json:"orchestration,omitempty"`
	Personality    string          `json:"personality,omitempty"`
	Conditions     []conditionJSON `json:"conditions,omitzero"`
	KnowledgeBases []string        `json:"knowledge_bases,omitzero"`
	Call           callConfigJSON  `json:"call,omitzero"`
	Tools          []string        `json:"tools,omitzero"`
}

type conditionJSON struct {
	Pathway string `json:"pathway"`
	When    string `json:"when"`
}

type callConfigJSON struct {
	Voice           string        `json:"voice,omitempty"`
	Record          bool          `json:"record,omitempty"`
	Language        string        `json:"language,omitempty"`
	Background      string        `json:"background,omitempty"`
	MaxDuration     time.Duration `json:"max_duration_ns,omitempty"`
	WaitForGreeting bool          `json:"wait_for_greeting,omitempty"`

	Interruption     *time.Duration `json:"interruption_ns,omitempty"`
	Interruptibility *int           `json:"interruptibility,omitempty"`

	LeastWait   time.Duration  `json:"least_wait_ns,omitempty"`
	LongestWait time.Duration  `json:"longest_wait_ns,omitempty"`
	Idle        *dialogue.Idle `json:"idle,omitempty"`

	VoiceSettings string                 `json:"voice_settings,omitempty"`
	Pronunciation []agents.Pronunciation `json:"pronunciation,omitzero"`
	Machines      dialogue.Machines      `json:"machines,omitzero"`
}

// personaVersionPurpose returns the purpose of Keyring.Seal that binds a sealed document to its row.
func personaVersionPurpose(org callwright.OrgID, id string) string {
	return fmt.Sprintf("persona version:%q:%q", org, id)
}

func newPersonaRow(p persona.Persona) personaRow {
	row := personaRow{
		ID: p.ID, Org: string(p.Org), Name: p.Name, Role: p.Role, Description: p.Description, Tags: p.Tags,
		ImageURL: p.ImageURL, CreatedBy: p.CreatedBy, Production: p.Production, Draft: p.Draft,
		CreatedAt: sqldb.Stored(p.CreatedAt), UpdatedAt: sqldb.Stored(p.UpdatedAt), Version: p.Revision,
	}
	if !p.DeletedAt.IsZero() {
		row.DeletedAt = sqldb.StoredIfSet(&p.DeletedAt)
	}
	return row
}

// persona converts a row that is not marked as deleted to a persona.
func (r personaRow) persona() persona.Persona {
	return persona.Persona{
		ID: r.ID, Org: callwright.OrgID(r.Org), Name: r.Name, Role: r.Role, Description: r.Description, Tags: r.Tags,
		ImageURL: r.ImageURL, CreatedBy: r.CreatedBy, Production: r.Production, Draft: r.Draft,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Revision: r.Version,
	}
}

func (db core) personaVersionRow(v persona.Version) personaVersionRow {
	document, _ := json.Marshal(personaJSON{ //nolint:errchkjson // texts always have a JSON
		Orchestration: v.Orchestration, Personality: v.Personality,
		Conditions:     sqldb.Converted(v.Conditions, func(c persona.Condition) conditionJSON { return conditionJSON(c) }),
		KnowledgeBases: v.KnowledgeBases, Call: callConfigJSON(v.Call),
		Tools: sqldb.Converted(v.Tools, func(tool json.RawMessage) string { return string(tool) }),
	})
	return personaVersionRow{
		ID: v.ID, Org: string(v.Org), Persona: v.Persona, Number: v.Number, Type: string(v.Type),
		CreatedAt: sqldb.Stored(v.CreatedAt), UpdatedAt: sqldb.Stored(v.UpdatedAt), Version: v.Revision,
		Document: db.Keyring.Seal(personaVersionPurpose(v.Org, v.ID), callwright.Secret(document)),
	}
}

func (db core) personaVersion(r personaVersionRow) (persona.Version, error) {
	org := callwright.OrgID(r.Org)
	plain, err := db.Unseal(personaVersionPurpose(org, r.ID), r.Document)
	if err != nil {
		return persona.Version{}, err
	}
	var j personaJSON
	if err := json.Unmarshal([]byte(plain), &j); err != nil {
		return persona.Version{}, callwright.ErrInternal.Because(err)
	}
	return persona.Version{
		ID: r.ID, Persona: r.Persona, Org: org, Type: persona.VersionType(r.Type), Number: r.Number,
		Orchestration: j.Orchestration, Personality: j.Personality,
		Conditions:     sqldb.Converted(j.Conditions, func(c conditionJSON) persona.Condition { return persona.Condition(c) }),
		KnowledgeBases: j.KnowledgeBases, Call: persona.CallConfig(j.Call),
		Tools:     sqldb.Converted(j.Tools, func(tool string) json.RawMessage { return json.RawMessage(tool) }),
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Revision: r.Version,
	}, nil
}
