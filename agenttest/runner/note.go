package runner

import (
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// MaxWebhooks is the maximum number of recorded requests of a session. Further requests are answered, and a note reports them.
const MaxWebhooks = 500

// maxNote is the length in bytes to which the text of a note is truncated.
const maxNote = 2000

// webhooks returns the recorded requests of a turn in the order of the turn's log. This order is the same in every run, although tools are
// called concurrently. lost is the number of requests that were not recorded.
func (s *session) webhooks(log pathway.Log) (out []assert.Webhook, lost int) {
	caught := s.sink.Drain()
	if len(caught) == 0 {
		return nil, 0
	}
	visits, place := 0, 0
	for _, e := range log.Entries {
		switch e.Kind {
		case pathway.LogVisit:
			visits++
		case pathway.LogRequest:
			switch w, sent := caught[place]; {
			case sent && s.caught < MaxWebhooks:
				w.Visit, w.At = visits, e.At
				out = append(out, w)
				s.caught++
			case sent:
				lost++
			}
			place++
		default:
		}
	}
	return out, lost
}

// notes returns the notes that explain the agent's moves in a turn, followed by notes of its actions.
func (s *session) notes(log pathway.Log) []engine.Note {
	notes := make([]engine.Note, 0, len(log.Entries)+len(s.did))
	for _, e := range log.Entries {
		if text := noteText(e); text != "" {
			notes = append(notes, engine.Note{Kind: string(e.Kind), Node: e.Node, Text: callwright.Clip(text, maxNote)})
		}
	}
	pressed := s.pressed(log)
	for _, step := range s.did {
		n := engine.Note{Kind: "action", Node: log.Node}
		switch step := step.(type) {
		case conversation.Press:
			n.Text = "presses " + step.Shown()
			if len(pressed) > 0 {
				n.Node, pressed = pressed[0], pressed[1:]
			}
		case conversation.Transfer:
			n.Text = "transfers the call to " + step.To
		case conversation.End:
			n.Text = "ends the conversation: " + step.Reason
		}
		notes = append(notes, n)
	}
	return notes
}

// noteText returns the text of the note for a log entry, or "" if the entry has no note.
func noteText(e pathway.LogEntry) string {
	switch e.Kind {
	case pathway.LogDecision:
		if e.Chosen == e.Node {
			return "stays: " + e.Text
		}
		return "goes to " + e.Chosen + ": " + e.Text
	case pathway.LogVariables:
		return string(request.Encode(e.Variables))
	case pathway.LogRequest:
		text := e.Request.Name + ": " + e.Request.Method + " " + e.Request.URL
		if e.Request.Error != "" {
			return text + " failed: " + e.Request.Error
		}
		return text + " was answered"
	case pathway.LogLoop, pathway.LogError:
		return e.Text
	default:
		return ""
	}
}

// pressed returns the ids of the nodes that sent digits in a turn, in order.
func (s *session) pressed(log pathway.Log) []string {
	var nodes []string
	g := s.agent.at()
	if g == nil {
		return nil
	}
	for i, e := range log.Entries {
		if n := g.Node(e.Node); e.Kind != pathway.LogVisit || n == nil || n.Type != graph.NodePress {
			continue
		}
		rest := log.Entries[i+1:]
		if end := slices.IndexFunc(rest, func(e pathway.LogEntry) bool { return e.Kind == pathway.LogVisit }); end >= 0 {
			rest = rest[:end]
		}
		if !slices.ContainsFunc(rest, func(r pathway.LogEntry) bool { return r.Text == pathway.NoDigits && r.Node == e.Node }) {
			nodes = append(nodes, e.Node)
		}
	}
	return nodes
}
