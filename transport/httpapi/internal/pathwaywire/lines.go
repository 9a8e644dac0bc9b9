// Package pathwaywire translates the parts of pathways that several areas have in common, from and to the generated types of these areas:
// the log of turns, the choice of a version and the differences of versions.
package pathwaywire

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
)

// Role is the side to which a line of the log belongs.
type Role string

// The values of Role, as in the contract.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Pathway   Role = "pathway"
)

// Line is a line of a pathway's log, with the members of the contract for calls and chats.
type Line struct {
	Role                            Role
	Text                            string
	Decision, Info, ChosenNode, Tag wire.Nil[string] // Info is JSON
	CreatedAt                       time.Time
}

// Lines translates the logs of turns into lines: the caller's words, the events and the agent's words of each turn. The caller's words have
// the time of the turn's first event, and the agent's words have the time of its last event. In a turn without events, both have the time
// of the last event before the turn. If there is none, they have the time in the argument begin.
func Lines(logs []pathway.Log, begin time.Time) ([]Line, error) {
	lines := []Line{}
	now := begin
	for _, l := range logs {
		if len(l.Entries) > 0 {
			now = l.Entries[0].At
		}
		if l.Heard != "" {
			lines = append(lines, spoken(User, l.Heard, now))
		}
		for _, e := range l.Entries {
			line, err := lineOf(e)
			if err != nil {
				return nil, err
			}
			now = e.At
			lines = append(lines, line)
		}
		if l.Said != "" {
			lines = append(lines, spoken(Assistant, l.Said, now))
		}
	}
	return lines, nil
}

func spoken(role Role, text string, at time.Time) Line {
	none := wire.NilText("")
	return Line{Role: role, Text: text, Decision: none, Info: none, ChosenNode: none, Tag: none, CreatedAt: at}
}

// info is the JSON of the member pathway_info.
type info struct {
	Kind      pathway.LogKind `json:"kind"`
	Node      string          `json:"node_id,omitempty"`
	Name      string          `json:"node_name,omitempty"`
	Edge      string          `json:"edge_id,omitempty"`
	Variables map[string]any  `json:"variables,omitempty"`
	Request   *request        `json:"request,omitempty"`

	Settings map[string]float64 `json:"settings,omitempty"`
}

// request describes a request of a pathway in a log line. Of the response, it contains the status and the variables set from it, but not
// the body.
type request struct {
	Name      string         `json:"name"`
	Method    string         `json:"method"`
	URL       string         `json:"url"`
	Status    int            `json:"status,omitempty"`
	TookMs    int64          `json:"took_ms"`
	Variables map[string]any `json:"variables,omitempty"`
	Error     string         `json:"error,omitempty"`
}

func lineOf(e pathway.LogEntry) (Line, error) {
	about := info{Kind: e.Kind, Node: e.Node, Name: e.Name, Edge: e.Edge, Variables: e.Variables, Settings: e.Settings}
	if r := e.Request; r != nil {
		about.Request = &request{
			Name: r.Name, Method: r.Method, URL: r.URL, Status: r.Status, TookMs: r.Duration.Milliseconds(),
			Variables: r.Variables, Error: r.Error,
		}
	}
	text, err := json.Marshal(about)
	line := Line{
		Role: Pathway, Text: e.Text, Decision: wire.NilText(""), Info: wire.NilText(string(text)),
		ChosenNode: wire.NilText(e.Chosen), Tag: wire.NilText(e.Tag), CreatedAt: e.At,
	}
	if e.Kind == pathway.LogDecision {
		line.Text, line.Decision = "", wire.Nil[string]{Value: e.Text}
	}
	return line, err
}
