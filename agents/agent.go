package agents

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
)

// Agent configures the speaker of a call. A task, a pathway or a persona leads its conversations.
type Agent struct {
	Task            string     // the agent's task
	Pathway         PathwayRef // leads the conversation instead of Task
	PersonaID       string     // of the persona that leads the conversation instead of Task and Pathway
	Persona         string     // the agent's identity and way of talking; precedes Task and the pathway's texts
	Voice           string     // empty: the synthesizer's default
	Language        string     // BCP 47, or a name that LanguageTag knows; empty: the engines' default
	Model           string     // empty: the server's
	Temperature     *float64   // from 0 to 1; nil: the model's
	FirstSentence   string
	WaitForGreeting bool                   // let the other side speak first
	Record          bool                   // keep a stereo recording
	MaxDuration     time.Duration          // from the answer on, at most LongestCall; 0: DefaultMaxDuration
	TransferTo      callwright.PhoneNumber // permitted target of transfers; empty: none
	Webhook         string                 // receives the record of an ended call; empty: none
	Interruption    *time.Duration         // duration of speech that interrupts the agent; nil: the conversation's default
	Tools           []json.RawMessage      // tools of the model, as given: see tool.Parse
	DynamicData     []DynamicData          // requests to other systems before the conversation

	// The agent of a call gets these from its persona, in addition to Task, Persona, Tools and settings: see Service.Calling.
	PersonaVersion int                 // number of the version; 0: no persona, or not the agent of a call
	Conditions     []persona.Condition // conditions under which a pathway takes over the conversation
	KnowledgeBases []string            // ids
}

// DefaultMaxDuration and LongestCall bound Agent.MaxDuration.
const (
	DefaultMaxDuration = 30 * time.Minute
	LongestCall        = 12 * time.Hour
)

// PathwayRef names the pathway that leads a conversation. The zero PathwayRef names none.
type PathwayRef struct {
	ID        string
	Version   pathway.Selector // version at the beginning of the conversation
	StartNode string           // id of the node to begin at; empty: the pathway's own start
}

// inProduction selects the version of a pathway without a named one.
var inProduction = pathway.Selector{Environment: pathway.Production}

// setDefaults sets the defaults, and normalizes the language.
func (a *Agent) setDefaults() {
	if a.MaxDuration == 0 {
		a.MaxDuration = DefaultMaxDuration
	}
	a.Language = LanguageTag(a.Language)
}

// LanguageTag returns the BCP 47 tag of a language. "ENG" is English. "auto", "fluent", "babel" and "babel-..." leave the language
// to the engines: their tag is empty. Any other name is returned as a tag.
func LanguageTag(name string) string {
	switch lower := strings.ToLower(name); {
	case lower == "auto", lower == "fluent", lower == "babel", strings.HasPrefix(lower, "babel-"):
		return ""
	case lower == "eng":
		return "en"
	default:
		return name
	}
}
