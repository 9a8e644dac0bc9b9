package handover_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/handover"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agents/prompted"
	"github.com/callwright/callwright/agents/tool"
)

// desk is the task of these tests. It consists of rules for the scripted model.
const desk = `start: say "Front desk of {{clinic}}."
when "hours": say "We open at nine."
when "bye": say "Goodbye." and end
when "person": say "One moment." and transfer
otherwise: say "Pardon?"`

// booking returns the pathway to which the desk hands over.
func booking(t testing.TB) *graph.Graph {
	t.Helper()
	d := graph.Document{
		Nodes: []json.RawMessage{
			json.RawMessage(`{"id":"day","type":"Default","data":{"name":"day","isStart":true,"text":"Which day at {{clinic}}?"}}`),
			json.RawMessage(`{"id":"end","type":"End Call","data":{"name":"end","text":"Noted."}}`),
		},
		Edges: []json.RawMessage{
			json.RawMessage(`{"id":"e","source":"day","target":"end","data":{"label":"the caller says \"monday\""}}`),
		},
	}
	g, err := graph.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// house is a brain that records its logs and the steps of the last turn.
type house struct {
	*handover.Brain
	t    *testing.T
	logs []pathway.Log
	led  []bool // whether a graph led each turn
	seen []conversation.Step
}

// newHouse returns a brain with the task desk, which hands over to the pathway "booking" when the caller wants an appointment, and to a
// missing pathway when the caller has a complaint.
func newHouse(t *testing.T, change ...func(*handover.Config)) *house {
	t.Helper()
	h := &house{t: t}
	c := handover.Config{
		Task: prompted.Config{
			Model: scripted.New(), Org: "a", Task: desk, TransferTo: "+15550100", Variables: map[string]any{"clinic": "Harbour"},
		},
		Conditions: []persona.Condition{
			{Pathway: "gone", When: `the caller says "complaint"`}, {Pathway: "booking", When: `the caller says "appointment"`},
		},
		Load: func(_ context.Context, id string) (*graph.Graph, error) {
			if id != "booking" {
				return nil, callwright.NotFound("pathway")
			}
			return booking(t), nil
		},
		Observer: func(l pathway.Log, g *graph.Graph) { h.logs, h.led = append(h.logs, l), append(h.led, g != nil) },
	}
	for _, f := range change {
		f(&c)
	}
	var err error
	if h.Brain, err = handover.New(c); err != nil {
		t.Fatal(err)
	}
	return h
}

// says runs a turn with a text and returns the agent's words. An empty text is TurnStart.
func (h *house) says(text string) string {
	h.t.Helper()
	turn := conversation.TextTurn(text)
	if text == "" {
		turn = conversation.Turn{Kind: conversation.TurnStart}
	}
	return h.takes(turn)
}

func (h *house) takes(turn conversation.Turn) string {
	h.t.Helper()
	h.seen = nil
	var said []string
	for step, err := range h.Respond(h.t.Context(), turn) {
		if err != nil {
			h.t.Fatalf("%q: %v", turn.Text, err)
		}
		h.seen = append(h.seen, step)
		if s, ok := step.(conversation.Say); ok {
			said = append(said, s.Text)
		}
	}
	return strings.Join(said, " ")
}

func (h *house) last() pathway.Log { return h.logs[len(h.logs)-1] }

func TestBrain(t *testing.T) {
	t.Parallel()
	agentstest.RunBrain(t, func(t *testing.T) conversation.Brain { return newHouse(t).Brain })
}

// TestHandover checks that the task answers until a condition is met, and that the pathway then answers the same words, with all messages
// and variables.
func TestHandover(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, turn := range [][2]string{
		{"", "Front desk of Harbour."},
		{"what are your hours", "We open at nine."},
		{"an appointment please", "Which day at Harbour?"},
		{"on monday, and what are your hours", "Noted."},
	} {
		if got := h.says(turn[0]); got != turn[1] {
			t.Fatalf("%q was answered with %q, want %q", turn[0], got, turn[1])
		}
	}
	s := h.State()
	if !s.Over || s.Turn != 4 || strings.Join(s.Visited, " ") != "day end" || len(s.Talk.Messages) != 7 {
		t.Errorf("the state is %+v", s)
	}
	if !slices.Equal(h.led, []bool{false, false, true, true}) {
		t.Errorf("a graph led the turns %v", h.led)
	}
	for i, l := range h.logs {
		if l.Turn != i+1 || l.Said == "" {
			t.Errorf("turn %d is logged as %+v", i+1, l)
		}
	}
	if e := h.logs[2].Entries[0]; e.Kind != pathway.LogDecision || e.Chosen != "day" || !strings.Contains(e.Text, "booking") || e.At.IsZero() {
		t.Errorf("the handover is logged as %+v", e)
	}
}

// TestFirstWords checks the first turn of a caller who speaks first: an agent with a first sentence says it, and any other agent hands over
// immediately.
func TestFirstWords(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if got := h.says("an appointment"); got != "Which day at Harbour?" {
		t.Errorf("the first answer is %q", got)
	}
	h = newHouse(t, func(c *handover.Config) { c.Task.FirstSentence = "Hello." })
	if got := h.says("an appointment"); got != "Hello." {
		t.Errorf("the first answer is %q, want the first sentence", got)
	}
	if got := h.says("an appointment"); got != "Which day at Harbour?" {
		t.Errorf("the second answer is %q", got)
	}
}

// TestStaysWithTheTask checks that the task keeps the conversation if the pathway is missing, the model fails to decide, the caller is
// silent, or the agent has no conditions.
func TestStaysWithTheTask(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.says("")
	if got := h.says("a complaint about your hours"); got != "We open at nine." {
		t.Errorf("the answer is %q", got)
	}
	if e := h.last().Entries; len(e) != 1 || e[0].Kind != pathway.LogError || !strings.Contains(e[0].Text, "gone cannot take over: pathway not found") {
		t.Errorf("the log is %+v", e)
	}
	h.takes(conversation.Turn{Kind: conversation.TurnSilence})
	h.takes(conversation.Turn{Kind: conversation.TurnSpeech})
	if h.State().Node != "" || len(h.last().Entries) != 0 {
		t.Errorf("silence was decided about: %+v", h.last())
	}

	h = newHouse(t, func(c *handover.Config) { c.Conditions[1].When = "the caller wants to come by" })
	h.says("")
	if got := h.says("an appointment, and your hours"); got != "We open at nine." {
		t.Errorf("the answer without a decision is %q", got)
	}
	if e := h.last().Entries; len(e) != 1 || !strings.HasPrefix(e[0].Text, "the model cannot decide about a handover: ") {
		t.Errorf("the log is %+v", e)
	}

	h = newHouse(t, func(c *handover.Config) { c.Conditions, c.Load = nil, nil })
	h.says("")
	if got := h.says("an appointment"); got != "Pardon?" || len(h.last().Entries) != 0 {
		t.Errorf("the answer without conditions is %q, the log %+v", got, h.last())
	}
}

// TestPressedKeysMeetConditions checks that a pressed key can meet a condition.
func TestPressedKeysMeetConditions(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *handover.Config) { c.Conditions[1].When = `the caller "pressed 1"` })
	h.says("")
	if got := h.takes(conversation.Turn{Kind: conversation.TurnDigits, Text: "1"}); got != "Which day at Harbour?" {
		t.Errorf("the answer is %q", got)
	}
}

// TestOver checks that State reports the end of a conversation that the task ends or transfers, but not after a failed transfer.
func TestOver(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"bye", "a person please"} {
		h := newHouse(t)
		h.says("")
		if h.State().Over {
			t.Error("the conversation is over after its start")
		}
		if h.says(words); !h.State().Over {
			t.Errorf("the conversation goes on after %q", words)
		}
	}
	h := newHouse(t)
	h.says("")
	h.says("a person please")
	if h.says(""); h.State().Over { // the start turn follows a failed transfer
		t.Error("the conversation is over after a transfer that failed")
	}
}

// TestHints checks that the recognizer receives hints of words that meet the conditions, in addition to the task's hints.
func TestHints(t *testing.T) {
	t.Parallel()
	for _, task := range []string{desk, "Talk."} {
		h := newHouse(t, func(c *handover.Config) { c.Task.Task = task })
		h.says("")
		var phrases []string
		for _, s := range h.seen {
			if e, ok := s.(conversation.Expect); ok {
				phrases = append(phrases, e.Phrases...)
			}
		}
		for _, want := range []string{"appointment", "complaint"} {
			if !slices.Contains(phrases, want) {
				t.Errorf("%.10q: %q is not among the expected phrases %q", task, want, phrases)
			}
		}
		if slices.Contains(phrases, "hours") != (task == desk) {
			t.Errorf("%.10q: the expected phrases are %q", task, phrases)
		}
	}
}

// TestVariablesOfToolsGoAlong checks that the pathway receives the variables that the task's tools have set.
func TestVariablesOfToolsGoAlong(t *testing.T) {
	t.Parallel()
	tools, err := tool.NewSet([]json.RawMessage{json.RawMessage(
		`{"name":"weather","url":"https://example.com/","response":{"clinic":"$.clinic"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	model := &agentstest.Model{Says: func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		if len(r.Messages) == 0 {
			return []llm.ReplyPart{{Call: &llm.ToolCall{ID: "1", Name: "weather", Arguments: json.RawMessage("{}")}}}, nil
		}
		return []llm.ReplyPart{{Text: "Hello."}}, nil
	}}
	model.Answers = func(context.Context, llm.Question) (string, error) {
		return `{"reason":"it is one","option":"plan 2"}`, nil
	}
	h := newHouse(t, func(c *handover.Config) {
		c.Task.Model, c.Task.Tools, c.Task.Requests = model, tools, &agentstest.Requests{Answer: agentstest.JSON(`{"clinic":"Hill"}`)}
	})
	h.says("")
	if e := h.last().Entries; len(e) != 2 || e[0].Kind != pathway.LogRequest || e[1].Variables["clinic"] != "Hill" {
		t.Errorf("the tool is logged as %+v", e)
	}
	if got := h.says("an appointment"); got != "Which day at Hill?" {
		t.Errorf("the answer is %q", got)
	}
}

// TestModelThatIsDown checks that Respond returns the model's failure if the model is down.
func TestModelThatIsDown(t *testing.T) {
	t.Parallel()
	down := &agentstest.Model{}
	down.Answers = func(context.Context, llm.Question) (string, error) {
		return "", &llm.Failure{Class: llm.ClassTransient, Message: "down"}
	}
	h := newHouse(t, func(c *handover.Config) { c.Task.Model = down })
	var last error
	for _, err := range h.Respond(t.Context(), conversation.TextTurn("an appointment")) {
		last = err
	}
	if _, ok := errors.AsType[*llm.Failure](last); !ok {
		t.Errorf("the answer ended with %v", last)
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]handover.Config{
		"handover: Config.Load is required with Config.Conditions": {
			Task: prompted.Config{Model: scripted.New(), Task: "Talk."}, Conditions: []persona.Condition{{Pathway: "p", When: "w"}},
		},
		"prompted: Config.Task is required": {Task: prompted.Config{Model: scripted.New()}},
	} {
		if _, err := handover.New(c); fmt.Sprint(err) != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// TestWithdrawnHandover checks that a withdrawn turn neither hands over nor counts as a turn, and that its logs are marked.
func TestWithdrawnHandover(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		h, fresh := newHouse(t), newHouse(t)
		hesitant := agentstest.Hesitate(t, h.Brain, seed)
		for _, text := range []string{"hello", "appointment or no hours please", "what then, monday?"} {
			var said [2]string
			for i, b := range []conversation.Brain{fresh.Brain, hesitant} {
				for step, err := range b.Respond(t.Context(), conversation.TextTurn(text)) {
					said[i] += fmt.Sprintf("%v %v\n", step, err)
				}
			}
			if said[0] != said[1] || !reflect.DeepEqual(h.State(), fresh.State()) {
				t.Errorf("seed %d: %q is answered with\n%s%+v\nand with withdrawals\n%s%+v", seed, text, said[0], fresh.State(), said[1], h.State())
			}
		}
		begun := len(h.logs)
		h.logs = slices.DeleteFunc(h.logs, func(l pathway.Log) bool { return l.Withdrawn.Answers == 1 && l.Turn == 0 })
		for i, l := range h.logs {
			if l.Turn != i+1 || len(l.Entries) != len(fresh.logs[i].Entries) || l.Said != fresh.logs[i].Said {
				t.Errorf("seed %d: turn %d is logged as %+v, want %+v", seed, i+1, l, fresh.logs[i])
			}
		}
		if len(h.logs) != len(fresh.logs) {
			t.Errorf("seed %d: of %d logs %d are of turns", seed, begun, len(h.logs))
		}
	}
}
