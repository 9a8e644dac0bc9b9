// Package pathwaywire translates the parts of calls, chats and inbound numbers about pathways, from and to the generated types of
// their areas: the log of turns, and the choice of a version.
package pathwaywire

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
)

// Role is the side that a line is of.
type Role string

// The roles, as the contract has them.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Pathway   Role = "pathway"
)

// Line is one line of a log, in the shape that the contract has for calls and for chats.
type Line struct {
	Role                            Role
	Text                            string
	Decision, Info, ChosenNode, Tag wire.Nil[string] // Info is JSON
	CreatedAt                       time.Time
}

// Lines returns the events of each turn, line by line. A turn with words only has the time of the event
// before it.
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

// info is the JSON in pathway_info.
type info struct {
	Kind      pathway.LogKind `json:"kind"`
	Node      string          `json:"node_id,omitempty"`
	Name      string          `json:"node_name,omitempty"`
	Edge      string          `json:"edge_id,omitempty"`
	Variables map[string]any  `json:"variables,omitempty"`
	Request   *request        `json:"request,omitempty"`
}

// request is a request that was made. Of the answer it holds the variables that were taken from it, and nothing else.
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
	about := info{Kind: e.Kind, Node: e.Node, Name: e.Name, Edge: e.Edge, Variables: e.Variables}
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
