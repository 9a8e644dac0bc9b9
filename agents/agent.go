package agents

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/speech/ambience"
	"github.com/callwright/callwright/speech/tts"
)

// Agent configures the speaker of a call. A task, a pathway, a persona or a brain leads its conversations.
type Agent struct {
	Task            string     // the agent's task
	Pathway         PathwayRef // leads the conversation instead of Task
	PersonaID       string     // persona that leads the conversation instead of Task and Pathway
	Brain           string     // URL of a service that leads the conversation instead of Task, Pathway and PersonaID; empty means none
	Persona         string     // the agent's identity and manner of speaking; precedes Task and the pathway's texts
	Voice           string     // empty means the synthesizer's default
	Language        string     // BCP 47, or a name that LanguageTag accepts; empty means the engines' default
	Model           string     // empty means the server's default
	Fallback        string     // name of the model that replies if Model fails or does not begin in time; empty means the server's default
	Temperature     *float64   // from 0 to 1; nil means the model's default
	FirstSentence   string
	WaitForGreeting bool                   // lets the other side speak first
	Record          bool                   // records the call in stereo
	MaxDuration     time.Duration          // counted from the answer, at most LongestCall; 0 means DefaultMaxDuration
	TransferTo      callwright.PhoneNumber // permitted target of transfers; empty means none
	Webhook         string                 // receives the record of an ended call; empty means none
	Interruption    *time.Duration         // duration of speech that interrupts the agent; nil means that of Interruptibility

	// Interruptibility is the readiness to be interrupted, from 0 (never) to 4 (immediately): see conversation.InterruptibilityOf. Nil
	// means the conversation's default.
	Interruptibility *int

	Machines Machines // reactions of placed calls to machines that answer

	// Keywords lists names and terms that are likely in the agent's calls, for the recognizer: see Agent.Terms. They are stored as given.
	Keywords []string

	VoiceSettings string              // settings of the speech engine: a JSON object, stored as given; empty means none: see Agent.Prosody
	Pronunciation []tts.Pronunciation // words that the speech engine pronounces wrong
	Background    ambience.Track      // background sound; empty means none
	LeastWait     time.Duration       // minimum silence that ends the other side's turn: see endpoint.IsBound; 0 means endpoint.DefaultLeast
	LongestWait   time.Duration       // maximum silence that ends the other side's turn: see endpoint.IsBound; 0 means endpoint.DefaultLongest
	Idle          *dialogue.Idle      // what the agent does in silence; nil means the defaults

	Tools       []json.RawMessage // tools of the model as JSON: see tool.Parse
	DynamicData []DynamicData     // requests that are sent to other systems before the conversation

	// Calling and Answering set these fields from the agent's persona, in addition to Task, Persona, Tools and settings: see
	// Service.Calling.
	PersonaVersion int                 // 0 means no persona, or an agent that no call uses yet
	Conditions     []persona.Condition // conditions under which a pathway takes over the conversation
	KnowledgeBases []string            // ids of knowledge bases

	// Sources contains the sources of the conversation settings that have a value. Calling and Answering set it; other agents have none.
	Sources map[Setting]Source
}

type (
	// Pronunciation is the type of an entry of Agent.Pronunciation.
	Pronunciation = tts.Pronunciation
	// Background is the type of Agent.Background.
	Background = ambience.Track
)

// DefaultMaxDuration and LongestCall are the default and the maximum of Agent.MaxDuration.
const (
	DefaultMaxDuration = 30 * time.Minute
	LongestCall        = 12 * time.Hour
)

// PathwayRef names the pathway that leads a conversation. The zero PathwayRef names none.
type PathwayRef struct {
	ID        string
	Version   pathway.Selector // resolved at the beginning of the conversation
	StartNode string           // id of the first node; empty means the pathway's start node
}

// inProduction selects the version in production. It applies to a pathway whose version is not named.
var inProduction = pathway.Selector{Environment: pathway.Production}

// The limits of Agent.Keywords.
const (
	MaxKeywords = 20
	MaxKeyword  = 100 // characters
)

// boost matches a keyword with a weight at its end. A time such as "10:30" has none.
var boost = regexp.MustCompile(`^(.*\pL.*):-?[0-9]+(\.[0-9]+)?$`)

// Terms returns the Keywords that are not blank, without the weights of other servers, such as ":2" in "appointment:2".
func (a Agent) Terms() []string {
	var terms []string
	for _, keyword := range a.Keywords {
		if term := strings.TrimSpace(boost.ReplaceAllString(keyword, "$1")); term != "" {
			terms = append(terms, term)
		}
	}
	return terms
}

// setDefaults sets MaxDuration if it is 0, and normalizes the language.
func (a *Agent) setDefaults() {
	if a.MaxDuration == 0 {
		a.MaxDuration = DefaultMaxDuration
	}
	a.Language = LanguageTag(a.Language)
}

// LanguageTag returns the BCP 47 tag of a language's name. It ignores the case of these names: "eng" means English; "auto", "fluent",
// "babel" and "babel-..." return an empty tag, which leaves the language to the engines. Any other name is returned unchanged.
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
