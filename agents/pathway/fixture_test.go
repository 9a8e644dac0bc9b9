package pathway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// data is the data of a node in a document.
type data = map[string]any

// raw returns a value as JSON.
func raw(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// node returns a node of a document. Exactly one node of a document must have isStart in its data, for example by the variable start.
func node(id string, kind graph.NodeType, d data) json.RawMessage {
	if d == nil {
		d = data{}
	}
	if _, named := d["name"]; !named {
		d["name"] = "the " + id
	}
	return raw(map[string]any{"id": id, "type": kind, "data": d})
}

// say returns a Default node that says its id and a period. The argument more adds or replaces members of the node's data.
func say(id string, more data) json.RawMessage {
	d := data{"text": id + "."}
	maps.Copy(d, more)
	return node(id, graph.NodeDefault, d)
}

var start = data{"isStart": true}

// ways returns edges. The edge "a b" is always taken. The edge "a b: label" is taken if the label applies.
func ways(edges ...string) []json.RawMessage {
	var out []json.RawMessage
	for _, e := range edges {
		ends, label, labelled := strings.Cut(e, ": ")
		source, target, _ := strings.Cut(ends, " ")
		out = append(out, raw(map[string]any{
			"id": source + ">" + target, "source": source, "target": target, "data": data{"label": label, "alwaysPick": !labelled},
		}))
	}
	return out
}

// compile compiles nodes and edges to a graph.
func compile(t testing.TB, nodes []json.RawMessage, edges []json.RawMessage) *graph.Graph {
	t.Helper()
	g, err := graph.Compile(graph.Document{Nodes: nodes, Edges: edges})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// literal returns a model that follows texts literally. It says the last paragraph of its instructions in brackets, preceded by "again" at
// a repeated visit, and followed by the knowledge. It chooses the first option whose label the last message contains and whose condition
// any message contains, or else the option Otherwise. It finds the value of a variable in "name=value" in the last message.
func literal() *agentstest.Model {
	return &agentstest.Model{
		Usage: llm.Usage{Input: 10, Output: 1},
		Says: func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
			paragraphs := strings.Split(r.Instructions, "\n\n")
			text := "[" + paragraphs[len(paragraphs)-1] + "]"
			if !r.Arriving {
				text = "again " + text
			}
			pieces := []string{text}
			for _, k := range r.Knowledge {
				pieces = append(pieces, " {"+k+"}")
			}
			return agentstest.Texts(pieces...), nil
		},
		Answers: func(_ context.Context, q llm.Question) (string, error) {
			last := ""
			for _, m := range q.Messages {
				last = m.Text
			}
			if q.Task == llm.TaskExtract {
				return found(q.Fields, last), nil
			}
			var all strings.Builder
			for _, m := range q.Messages {
				all.WriteString(m.Text + "\n")
			}
			chosen := ""
			for _, o := range q.Options {
				if strings.Contains(last, o.Label) && strings.Contains(all.String(), o.Condition) || o.Otherwise && chosen == "" {
					chosen = o.ID
					break
				}
			}
			return string(raw(map[string]string{"reason": "said so", "option": chosen})), nil
		},
	}
}

// found returns literal's answer to a question for fields: the value of each field in "name=value", or null.
func found(fields []llm.Field, said string) string {
	values := map[string]any{}
	for _, f := range fields {
		values[f.Name] = nil
		if m := regexp.MustCompile(regexp.QuoteMeta(f.Name) + `=(\w+)`).FindStringSubmatch(said); m != nil {
			values[f.Name] = m[1]
			if n, err := strconv.Atoi(m[1]); err == nil && f.Type == llm.FieldInteger {
				values[f.Name] = n
			}
		}
	}
	return string(raw(values))
}

// clock is a clock that advances by a second at every read.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time {
	c.now = c.now.Add(time.Second)
	return c.now
}

// talk is a conversation along a graph, whose turns a test runs and checks.
type talk struct {
	testing.TB
	interpreter *pathway.Interpreter
	graph       *graph.Graph
	agent       pathway.Agent
	state       pathway.State
	log         pathway.Log // log of the last turn
}

func newTalk(t testing.TB, g *graph.Graph) *talk {
	return &talk{
		TB: t, graph: g,
		interpreter: &pathway.Interpreter{Model: literal(), Requests: &agentstest.Requests{}, Runtime: callwright.Runtime{Clock: &clock{now: time.Unix(0, 0).UTC()}}},
	}
}

// step runs a turn, stops after the given number of steps, and returns the words and actions as text.
func (c *talk) step(ctx context.Context, turn conversation.Turn, most int) (string, error) {
	c.Helper()
	var out []string
	state, log, err := c.interpreter.Step(ctx, c.graph, c.agent, c.state, turn, func(s conversation.Step) bool {
		switch s := s.(type) {
		case conversation.Say:
			out = append(out, s.Text)
		case conversation.Expect:
			out = append(out, fmt.Sprintf("Expect{%v}", s.Phrases))
		default:
			out = append(out, strings.TrimPrefix(fmt.Sprintf("%T%v", s, s), "conversation."))
		}
		return len(out) < most
	})
	c.state, c.log = state, log
	return strings.Join(out, " "), err
}

// turn runs a turn and checks its words and actions.
func (c *talk) turn(turn conversation.Turn, want string) {
	c.Helper()
	got, err := c.step(c.Context(), turn, 1000)
	if err != nil || got != want {
		c.Errorf("%s %q is answered with\n\t%s, error %v\nwant\n\t%s", turn.Kind, turn.Text, got, err, want)
	}
}

// begins runs the first turn and checks its words and actions.
func (c *talk) begins(want string) {
	c.Helper()
	c.turn(conversation.Turn{Kind: conversation.TurnStart}, want)
}

// hears runs a turn with the caller's words and checks the answer.
func (c *talk) hears(text, want string) {
	c.Helper()
	c.turn(conversation.Turn{Kind: conversation.TurnSpeech, Text: text}, want)
}

// at checks the current node, in the state and in the log, and the node to return to.
func (c *talk) at(id, back string) {
	c.Helper()
	if c.state.Node != id || c.state.Return != back || c.log.Node != id {
		c.Errorf("it is at %q and goes back to %q, and the log says %q; want %q, %q", c.state.Node, c.state.Return, c.log.Node, id, back)
	}
}

// entries describes the entries of the given kinds in the last log as text.
func (c *talk) entries(kinds ...pathway.LogKind) string {
	var out []string
	for _, e := range c.log.Entries {
		for _, kind := range kinds {
			if e.Kind != kind {
				continue
			}
			text := fmt.Sprintf("%s %s", e.Kind, e.Node)
			if e.Kind == pathway.LogDecision {
				text += fmt.Sprintf(" -> %s (%s)", e.Chosen, e.Edge)
			}
			if e.Text != "" {
				text += ": " + e.Text
			}
			if len(e.Variables) > 0 {
				text += fmt.Sprint(e.Variables)
			}
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n")
}

// logged checks the entries of the given kinds in the last log.
func (c *talk) logged(want string, kinds ...pathway.LogKind) {
	c.Helper()
	if got := c.entries(kinds...); got != want {
		c.Errorf("the log has\n%s\nwant\n%s", got, want)
	}
}

func nodes(all ...json.RawMessage) []json.RawMessage { return all }

// model returns the conversation's fake model.
func (c *talk) model() *agentstest.Model { return c.interpreter.Model.(*agentstest.Model) }
