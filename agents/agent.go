package agents

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
)

// Agent says who speaks on a call, and how. A task, a pathway or a persona leads its conversations.
type Agent struct {
	Task            string     // what the agent is there for
	Pathway         PathwayRef // leads the conversation instead of Task
	PersonaID       string     // of the persona that leads the conversation instead of Task and Pathway
	Persona         string     // who the agent is and how it talks; stands before Task and before the pathway's texts
	Voice           string     // empty: the synthesizer's default
	Language        string     // BCP 47, or a name that LanguageTag knows; empty: the engines' default
	Model           string     // empty: the server's
	Temperature     *float64   // from 0 to 1; nil: the model's
	FirstSentence   string
	WaitForGreeting bool                   // let the other side speak first
	Record          bool                   // keep a stereo recording
	MaxDuration     time.Duration          // from the answer on, at most LongestCall; 0: DefaultMaxDuration
	TransferTo      callwright.PhoneNumber // where the agent may transfer the call; empty: nowhere
	Webhook         string                 // gets the call's record when it has ended; empty: nothing does
	Interruption    *time.Duration         // how long callers must speak to interrupt the agent; nil: the conversation's default
	Tools           []json.RawMessage      // what the model may call, as it was given: see tool.Parse
	DynamicData     []DynamicData          // what is asked of other systems before the conversation

	// The agent of a call takes these from its persona, beside Task, Persona, Tools and settings: see Service.Calling.
	PersonaVersion int                 // number of the version; 0: the agent is not of a call, or has no persona
	Conditions     []persona.Condition // when a pathway takes the conversation over
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
	Version   pathway.Selector // of which version, when the conversation begins
	StartNode string           // id of the node to begin at; empty: the pathway's own start
}

// inProduction selects the version of a pathway for which none is named.
var inProduction = pathway.Selector{Environment: pathway.Production}

// setDefaults fills in what is not given, and normalizes the language.
func (a *Agent) setDefaults() {
	if a.MaxDuration == 0 {
		a.MaxDuration = DefaultMaxDuration
	}
	a.Language = LanguageTag(a.Language)
}

// LanguageTag returns the BCP 47 tag of a language. "ENG" is English. "auto", "fluent", "babel" and "babel-..." leave the
// language to the engines: they are the empty tag. Any other name is taken for a tag.
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
