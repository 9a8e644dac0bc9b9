package persona

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
)

// Persona is a character that handles calls: its identity, and its versions in use.
type Persona struct {
	ID          string
	Org         callwright.OrgID
	Name        string
	Role        string // its role; may be empty
	Description string // its purpose; may be empty
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
	Orchestration  string // its purpose and its decisions: the task of its conversations
	Personality    string // its identity and way of talking
	Conditions     []Condition
	KnowledgeBases []string // ids
	Call           CallConfig
	Tools          []json.RawMessage // tools of the model, as given: see tool.Parse
	CreatedAt      time.Time
	UpdatedAt      time.Time
	Revision       int64 // counts changes
}

// VersionType is the use of a version.
type VersionType string

// The types of versions.
const (
	Production VersionType = "production"
	Draft      VersionType = "draft"
)

// Condition hands a conversation over to a pathway.
type Condition struct {
	Pathway string // its id; the version in production takes over
	When    string // in words, or as a rule of the scripted model
}

// CallConfig configures the sound and the behavior of a persona's calls.
type CallConfig struct {
	Voice           string // empty: the synthesizer's default
	Record          bool
	Language        string // BCP 47; empty: the engines' default
	Background      string // background sound; empty: none
	MaxDuration     time.Duration
	WaitForGreeting bool // the caller speaks first
}
