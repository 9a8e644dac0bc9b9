package persona

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/speech/tts"
)

// Persona is a character that handles calls. It contains the character's identity and the ids of its versions in use.
type Persona struct {
	ID          string
	Org         callwright.OrgID
	Name        string
	Role        string // may be empty
	Description string // purpose of the persona; may be empty
	Tags        []string
	ImageURL    string // may be empty
	CreatedBy   string // id of the user who created the persona; empty if unknown
	Production  string // id of the version that calls use; may be empty
	Draft       string // id of the version that is edited; may be empty
	CreatedAt   time.Time
	UpdatedAt   time.Time
	DeletedAt   time.Time // zero unless the persona is deleted
	Revision    int64     // incremented by every change
}

// Version is a numbered state of a persona's prompts, settings and tools. A draft can change; a version that was in production cannot.
type Version struct {
	ID             string
	Persona        string
	Org            callwright.OrgID
	Type           VersionType
	Number         int    // counted from 1
	Orchestration  string // purpose and decisions of the persona, which are the task of its conversations
	Personality    string // identity and manner of speaking
	Conditions     []Condition
	KnowledgeBases []string // ids of knowledge bases
	Call           CallConfig
	Tools          []json.RawMessage // tools of the model as JSON: see tool.Parse
	CreatedAt      time.Time
	UpdatedAt      time.Time
	Revision       int64 // incremented by every change
}

// VersionType names how a version is used.
type VersionType string

// The types of versions.
const (
	Production VersionType = "production"
	Draft      VersionType = "draft"
)

// Condition determines when a pathway takes over a conversation.
type Condition struct {
	Pathway string // id of the pathway, whose version in production takes over
	When    string // the condition in words, or as a rule of the scripted model
}

// CallConfig contains the voice and the behavior of a persona's calls.
type CallConfig struct {
	Voice           string // empty means the synthesizer's default
	Record          bool
	Language        string // BCP 47; empty means the engines' default
	Background      string // background sound; empty means none
	MaxDuration     time.Duration
	WaitForGreeting bool // lets the caller speak first

	Interruption     *time.Duration // duration of speech that interrupts the agent, at most conversation.MaxThreshold; nil means that of Interruptibility
	Interruptibility *int           // readiness to be interrupted, from 0 (never) to conversation.MaxInterruptibility (immediately); nil means the default

	LeastWait   time.Duration  // minimum silence that ends the caller's turn: see endpoint.IsBound; 0 means endpoint.DefaultLeast
	LongestWait time.Duration  // maximum silence that ends the caller's turn: see endpoint.IsBound; 0 means endpoint.DefaultLongest
	Idle        *dialogue.Idle // what the agent does in silence; nil means the defaults

	VoiceSettings string              // settings of the speech engine: see tts.ParseSettings; empty means none
	Pronunciation []tts.Pronunciation // words that the speech engine pronounces wrong
	Machines      dialogue.Machines   // reactions of placed calls to machines that answer
}
