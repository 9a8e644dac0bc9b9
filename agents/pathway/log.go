package pathway

import (
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
)

// Log records the course of one turn.
type Log struct {
	Turn     int    // number of the turn: 1, 2, ...
	Node     string // id of the node at which the turn ended
	Heard    string // the caller's words or digits; empty if there were none
	Said     string
	Entries  []LogEntry
	Usage    llm.Usage
	Duration time.Duration

	ModelCalls int       // requests to the model, including repeated and failed ones
	Models     []llm.Use // models that answered these requests; nil means none

	// Withdrawn counts the early answers that were withdrawn before this turn. The log of a withdrawn turn has no other fields.
	Withdrawn Withdrawn
}

// Withdrawn counts answers that were begun before the caller's turn was certain, and then withdrawn: see conversation.Turn.Early.
type Withdrawn struct {
	Answers    int
	Usage      llm.Usage
	ModelCalls int       // requests to the model
	Models     []llm.Use // models that answered these requests; nil means none
}

// Add returns the sum of w and v.
func (w Withdrawn) Add(v Withdrawn) Withdrawn {
	return Withdrawn{w.Answers + v.Answers, w.Usage.Add(v.Usage), w.ModelCalls + v.ModelCalls, llm.AddUses(w.Models, v.Models...)}
}

// LogEntry is one event of a turn.
type LogEntry struct {
	Kind      LogKind
	Node      string         // id of the node at which the event occurred
	Name      string         // name of the node, or of a request
	Chosen    string         // id of the next node, for LogDecision
	Edge      string         // id of the chosen edge, for LogDecision; empty for a way without an edge
	Tag       string         // tag of the node, for LogVisit
	Text      string         // human-readable
	Variables map[string]any // variables that changed, for LogVariables
	Request   *request.Log   // for LogRequest
	At        time.Time

	// Settings contains the node's settings of the conversation, for LogVisit: see graph.Node.Settings.
	Settings map[string]float64
}

// LogKind names the kind of an event in a log.
type LogKind string

// The kinds of events in a log.
const (
	LogVisit     LogKind = "visit"     // the conversation entered a node
	LogDecision  LogKind = "decision"  // the next node was chosen
	LogVariables LogKind = "variables" // variables were set
	LogRequest   LogKind = "tool_call" // a request was sent to another system
	LogKnowledge LogKind = "knowledge" // passages were looked up
	LogLoop      LogKind = "loop"      // MaxVisits ended the turn
	LogError     LogKind = "error"     // the text describes an error
)

// RequestEntries returns the log entries of a request: the request itself, and the variables that it has set, if any.
func RequestEntries(l request.Log, at time.Time) []LogEntry {
	entries := []LogEntry{{Kind: LogRequest, Name: l.Name, Request: &l, At: at}}
	if len(l.Variables) > 0 {
		entries = append(entries, LogEntry{
			Kind: LogVariables, Name: l.Name, Variables: l.Variables, At: at,
		})
	}
	return entries
}
