package persona

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
)

// Persona is a character that handles calls: who it is, and which of its versions are in use.
type Persona struct {
	ID          string
	Org         callwright.OrgID
	Name        string
	Role        string // what it does; may be empty
	Description string // what it is for; may be empty
	Tags        []string
	ImageURL    string // empty: none
	CreatedBy   string // id of the user who created it; empty: unknown
	Production  string // id of the version that calls use; empty: none yet
	Draft       string // id of the version that is edited; empty: none
	CreatedAt   time.Time
	UpdatedAt   time.Time
	DeletedAt   time.Time // zero: it exists
	Revision    int64     // counts changes
}

// Version is a state of a persona. A draft changes; a version that was in production does not.
type Version struct {
	ID             string
	Persona        string
	Org            callwright.OrgID
	Type           VersionType
	Number         int    // counts from 1
	Orchestration  string // what it is there for and how it chooses what to do: the task of its conversations
	Personality    string // who it is and how it talks
	Conditions     []Condition
	KnowledgeBases []string // ids
	Call           CallConfig
	Tools          []json.RawMessage // what the model may call, as it was given: see tool.Parse
	CreatedAt      time.Time
	UpdatedAt      time.Time
	Revision       int64 // counts changes
}

// VersionType says what a version is for.
type VersionType string

// The types of versions.
const (
	Production VersionType = "production"
	Draft      VersionType = "draft"
)

// Condition hands a conversation over to a pathway.
type Condition struct {
	Pathway string // its id; the version in production leads on
	When    string // in words, or as a rule of the scripted model
}

// CallConfig says how calls of a persona sound and behave.
type CallConfig struct {
	Voice           string // empty: the synthesizer's default
	Record          bool
	Language        string // BCP 47; empty: the engines' default
	Background      string // background sound; empty: none
	MaxDuration     time.Duration
	WaitForGreeting bool // the caller speaks first
}
