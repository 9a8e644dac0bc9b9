package pathway_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// shop returns a graph with every type of node. The scripted model can lead a conversation along it.
func shop(t testing.TB) *graph.Graph {
	return compile(t, nodes(
		node("day", graph.NodeDefault, data{
			"isStart": true, "prompt": "Ask \"Which day, Tuesday or Thursday?\"\notherwise: say \"Sorry. Which day, Tuesday or Thursday?\"",
			"extractVars": [][]string{{"day", "string", `"Tuesday" or "Thursday"`}},
		}),
		node("hook", graph.NodeWebhook, data{"text": "One moment.", "url": "https://example.com/"}),
		node("keys", graph.NodePress, data{"digits": "1"}),
		node("done", graph.NodeDefault, data{"prompt": `Say "{{day}} it is." Then ask "Anything else?"`}),
		node("wait", graph.NodeWait, nil),
		node("bye", graph.NodeEnd, data{"prompt": `Say "Goodbye."`}),
		say("price", data{"isGlobal": true, "globalLabel": `the caller asks "how much"`, "enableGlobalAutoReturn": true}),
		node("hours", graph.NodeKnowledge, data{"isGlobal": true, "globalLabel": `"when" or "open"`, "kb": "We open at nine.\n\nThe shop is at the harbour."}),
		node("person", graph.NodeTransfer, data{"text": "Wait.", "transferNumber": "+15550100", "isGlobal": true, "globalLabel": `the caller wants "a person"`}),
	), ways("day hook: day is known", "hook keys", "keys done", `done bye: "nothing"`, `done wait: "a moment"`, `wait done`))
}

func TestBrain(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"", "Hello. This is the shop."} {
		agentstest.RunBrain(t, func(t *testing.T) conversation.Brain {
			return must(pathway.NewBrain(pathway.BrainConfig{
				Interpreter: &pathway.Interpreter{Model: scripted.New(), Requests: &agentstest.Requests{}}, Graph: shop(t),
				Agent: pathway.Agent{FirstSentence: first},
			}))
		})
	}
}

// answers runs a turn, stops after the given number of steps, and returns the steps as text.
func answers(ctx context.Context, b *pathway.Brain, turn conversation.Turn, most int) (string, error) {
	var out []string
	for s, err := range b.Respond(ctx, turn) {
		if err != nil {
			return strings.Join(out, " "), err
		}
		if e, ok := s.(conversation.Expect); ok {
			out = append(out, fmt.Sprintf("{%v}", e.Phrases))
		} else {
			out = append(out, fmt.Sprint(s))
		}
		if len(out) == most {
			break
		}
	}
	return strings.Join(out, " "), nil
}

// messages describes the messages of a conversation as text.
func messages(s pathway.State) string {
	var out []string
	for _, m := range s.Talk.Messages {
		out = append(out, string(m.Role)+": "+m.Text)
	}
	return strings.Join(out, " | ")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestNewBrainNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]pathway.BrainConfig{
		"BrainConfig.Interpreter": {Graph: shop(t)},
		"Interpreter.Model":       {Graph: shop(t), Interpreter: &pathway.Interpreter{}},
		"BrainConfig.Graph":       {Interpreter: &pathway.Interpreter{Model: scripted.New()}},
	} {
		if b, err := pathway.NewBrain(c); b != nil || err == nil || err.Error() != "pathway: "+name+" is required" {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func newBrain(g *graph.Graph, m llm.Model, logs *[]pathway.Log) *pathway.Brain {
	return must(pathway.NewBrain(pathway.BrainConfig{
		Interpreter: &pathway.Interpreter{Model: m, Requests: &agentstest.Requests{}}, Graph: g,
		Observer: func(l pathway.Log) { *logs = append(*logs, l) },
	}))
}

func speech(text string) conversation.Turn {
	return conversation.Turn{Kind: conversation.TurnSpeech, Text: text}
}

func TestBrainIsInterrupted(t *testing.T) {
	t.Parallel()
	g := compile(t, nodes(node("a", graph.NodeDefault, data{"isStart": true, "text": "One. Two. Three."}), say("b", nil)), ways("a b: go"))
	var logs []pathway.Log
	b := newBrain(g, literal(), &logs)
	if got, err := answers(t.Context(), b, conversation.Turn{Kind: conversation.TurnStart}, 2); got != "{One.} {Two.}" || err != nil {
		t.Errorf("it says %s, error %v", got, err)
	}
	turn := conversation.Turn{Kind: conversation.TurnSpeech, Text: "go", Interrupted: true, Heard: "One. Tw"}
	if got, err := answers(t.Context(), b, turn, 99); got != "{b.}" || err != nil {
		t.Errorf("it says %s, error %v", got, err)
	}
	if got := messages(b.State()); got != "agent: One. Tw | caller: go | agent: b." {
		t.Errorf("the messages are %s", got)
	}
	if len(logs) != 2 || logs[0].Said != "One. Two." || logs[1].Turn != 2 {
		t.Errorf("the logs are %+v", logs)
	}
}

// TestAsideIsInterrupted checks that words which interrupt a node with AutoReturn count as the answer to the previous question.
func TestAsideIsInterrupted(t *testing.T) {
	t.Parallel()
	b := newBrain(compile(t, nodes(say("ask", data{"isStart": true, "extractVars": [][]string{{"day"}}}), say("done", nil),
		node("price", graph.NodeDefault, data{"text": "One. Two.", "isGlobal": true, "globalLabel": "cost", "enableGlobalAutoReturn": true})),
		ways("ask done: day")), literal(), new([]pathway.Log))
	for _, turn := range []struct {
		turn  conversation.Turn
		steps int
		want  string
	}{
		{conversation.Turn{Kind: conversation.TurnStart}, 9, "{ask.}"},
		{speech("cost"), 1, "{One.}"},
		{conversation.Turn{Kind: conversation.TurnSpeech, Interrupted: true, Heard: "One."}, 9, "{Two.} {ask.}"},
		{speech("cost"), 1, "{One.}"},
		{conversation.Turn{Kind: conversation.TurnSpeech, Text: "day=Monday", Interrupted: true, Heard: "One"}, 9, "{done.}"},
	} {
		if got, err := answers(t.Context(), b, turn.turn, turn.steps); got != turn.want || err != nil {
			t.Errorf("after %q it says %s, error %v, want %s", turn.turn.Text, got, err, turn.want)
		}
	}
	if s := b.State(); s.Return != "" || s.Variables["day"] != "Monday" {
		t.Errorf("the state is %+v", s)
	}
}

// TestEndIsInterrupted checks that the call ends after its last words even if they are interrupted, except if the caller asks for a global
// node: then that node comes first.
func TestEndIsInterrupted(t *testing.T) {
	t.Parallel()
	g := compile(t, nodes(say("a", start), node("end", graph.NodeEnd, data{"text": "Bye. See you."}),
		say("stay", data{"isGlobal": true, "globalLabel": "wait"}),
		say("price", data{"isGlobal": true, "globalLabel": "cost", "enableGlobalAutoReturn": true})), ways("a end"))
	const bye = "{Bye.} {See you.} {the pathway has come to its end}"
	for name, c := range map[string]struct {
		steps int // steps of the end that are emitted before the caller interrupts
		turn  conversation.Turn
		want  string
	}{
		"by an answer":              {1, conversation.Turn{Kind: conversation.TurnSpeech, Text: "bye"}, bye},
		"by a wish":                 {1, conversation.Turn{Kind: conversation.TurnSpeech, Text: "wait"}, "{stay.}"},
		"by a question":             {1, conversation.Turn{Kind: conversation.TurnSpeech, Text: "cost?"}, "{price.} " + bye},
		"by a noise":                {2, conversation.Turn{Kind: conversation.TurnSpeech, Heard: "Bye. See"}, "{See you.} {the pathway has come to its end}"},
		"late, by an answer":        {3, conversation.Turn{Kind: conversation.TurnSpeech, Text: "bye"}, bye},
		"late, by a question":       {3, conversation.Turn{Kind: conversation.TurnSpeech, Text: "cost?"}, "{price.} " + bye},
		"late, by a noise":          {3, conversation.Turn{Kind: conversation.TurnSpeech, Heard: "Bye. See you."}, "{the pathway has come to its end}"},
		"by nothing but a silence":  {2, conversation.Turn{Kind: conversation.TurnSilence, Heard: "Bye. See you."}, "{the pathway has come to its end}"},
		"late, by a pressed button": {3, conversation.Turn{Kind: conversation.TurnDigits, Text: "1"}, bye},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBrain(g, literal(), new([]pathway.Log))
			if got, err := answers(t.Context(), b, conversation.Turn{Kind: conversation.TurnStart}, 9); got != "{a.}" || err != nil {
				t.Errorf("it says %s, error %v", got, err)
			}
			if got, err := answers(t.Context(), b, speech("x"), c.steps); !strings.HasPrefix(bye, got) || err != nil {
				t.Errorf("it says %s, error %v", got, err)
			}
			if !b.State().ActionPending || b.State().Over != (c.steps == 3) {
				t.Errorf("the state is %+v", b.State())
			}
			c.turn.Interrupted = true
			if got, err := answers(t.Context(), b, c.turn, 99); got != c.want || err != nil {
				t.Errorf("it says %s, error %v", got, err)
			}
		})
	}
}

// TestBrokenOffBeforeWords checks that a turn that is canceled before its words are heard is decided again, with all of the caller's words.
func TestBrokenOffBeforeWords(t *testing.T) {
	t.Parallel()
	g := compile(t, nodes(say("a", data{"isStart": true, "extractVars": [][]string{{"day"}}}),
		node("b", graph.NodeDefault, data{"prompt": "Think."}), say("c", nil)), ways("a c: two", "a b: one"))
	m := literal()
	var logs []pathway.Log
	b := newBrain(g, m, &logs)
	if got, err := answers(t.Context(), b, conversation.Turn{Kind: conversation.TurnStart}, 99); got != "{a.}" || err != nil {
		t.Fatalf("it says %s, error %v", got, err)
	}
	before := b.State()
	ctx, cancel := context.WithCancel(t.Context())
	m.Says = func(ctx context.Context, _ llm.ReplyRequest) ([]llm.ReplyPart, error) {
		cancel()
		return nil, &llm.Failure{Class: llm.ClassTransient, Cause: ctx.Err()}
	}
	if got, err := answers(ctx, b, speech("one day=Monday"), 99); got != "" || err != nil {
		t.Errorf("it says %s, error %v", got, err)
	}
	after := b.State()
	if after.Node != "a" || after.Turn != 2 || len(after.Visited) != 1 || after.Variables != nil || after.ActionPending != before.ActionPending {
		t.Errorf("the state is %+v", after)
	}
	if last := logs[1].Entries[len(logs[1].Entries)-1]; last.Text != "the turn was canceled before anything was said" {
		t.Errorf("the log ends with %+v", last)
	}
	if got, err := answers(t.Context(), b, speech("no: two"), 99); got != "{c.}" || err != nil {
		t.Errorf("it says %s, error %v", got, err)
	}
	if got := messages(b.State()); got != "agent: a. | caller: one day=Monday no: two | agent: c." {
		t.Errorf("the messages are %s", got)
	}
}

func TestBrainFails(t *testing.T) {
	t.Parallel()
	g := compile(t, nodes(node("a", graph.NodeDefault, data{"isStart": true, "prompt": "Ask."})), nil)
	var logs []pathway.Log
	b := newBrain(g, &agentstest.Model{}, &logs)
	got, err := answers(t.Context(), b, conversation.Turn{Kind: conversation.TurnStart}, 99)
	if got != "{I am sorry, I have a technical problem and must end the call.} {Goodbye.}" || llm.ClassOf(err) != llm.ClassUnsupported {
		t.Errorf("it says %s, error %v", got, err)
	}
	stopped := newBrain(g, &agentstest.Model{}, new([]pathway.Log))
	if got, err := answers(t.Context(), stopped, conversation.Turn{Kind: conversation.TurnStart}, 1); err != nil || !strings.HasPrefix(got, "{I am sorry") {
		t.Errorf("it says %s, error %v", got, err)
	}
	if got, err := answers(t.Context(), b, speech("x"), 99); got != "" || !errors.Is(err, callwright.ErrInvalidState) || len(logs) != 1 {
		t.Errorf("afterwards it says %s, error %v, logs %+v", got, err, logs)
	}
}

// slowly is a model that speaks in pieces, and counts the pieces that it has sent.
type slowly struct {
	*agentstest.Model
	pieces []string
	made   int
}

func (m *slowly) Reply(context.Context, llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		for _, p := range m.pieces {
			if m.made++; !yield(llm.ReplyPart{Text: p}, nil) {
				return
			}
		}
	}
}

// TestStreams checks that sentences arrive while the model still speaks, and that the model stops when its consumer stops.
func TestStreams(t *testing.T) {
	t.Parallel()
	g := compile(t, nodes(node("a", graph.NodeDefault, data{"isStart": true, "prompt": "Ask."})), nil)
	m := &slowly{Model: literal(), pieces: []string{"One. Tw", "o. Th", "ree. Fo", "ur."}}
	b := newBrain(g, m, new([]pathway.Log))
	var heard []string
	for s, err := range b.Respond(t.Context(), conversation.Turn{Kind: conversation.TurnStart}) {
		if err != nil {
			t.Error(err)
		}
		heard = append(heard, fmt.Sprintf("%v after %d", s, m.made))
		if len(heard) == 3 {
			break
		}
	}
	if got := strings.Join(heard, ", "); got != "{One.} after 1, {Two.} after 2, {Three.} after 3" || m.made != 3 {
		t.Errorf("it says %s; the model made %d pieces", got, m.made)
	}
	if got := messages(b.State()); got != "agent: One. Two. Three." || b.State().Node != "a" {
		t.Errorf("the messages are %s", got)
	}
}

// knowing is a model that is also an llm.Hinter.
type knowing struct {
	*agentstest.Model
	options [][]llm.Option
}

func (m *knowing) Hints(_ llm.ReplyRequest, options []llm.Option) []string {
	m.options = append(m.options, options)
	var out []string
	for _, o := range options {
		out = append(out, o.Label)
	}
	return out
}

func TestExpects(t *testing.T) {
	t.Parallel()
	c := newTalk(t, compile(t, nodes(
		say("ask", data{"isStart": true, "condition": "done {{x}}", "extractVars": [][]string{{"day", "string", "a day"}}}),
		node("bye", graph.NodeEnd, data{"isGlobal": true, "globalLabel": "bye"})), ways("ask ask: go")))
	m := &knowing{Model: literal()}
	c.interpreter.Model = m
	c.begins("ask. Expect{[bye go none of the others a day]}")
	c.logged("", pathway.LogError) // the log does not report the unknown variable x of the hints
	want := []llm.Option{
		{ID: "way 1", Label: "bye"}, {ID: "way 2", Label: "go", Condition: "done"},
		{ID: "way 3", Label: "none of the others", Otherwise: true}, {ID: "variable day", Label: "a day"},
	}
	if !reflect.DeepEqual(m.options[0], want) {
		t.Errorf("the options are %+v", m.options[0])
	}
	c.turn(conversation.Turn{Kind: conversation.TurnSilence}, "Are you still there? Expect{[bye go none of the others a day]}")
	c.hears("day=Monday", "ask. Expect{[bye go none of the others]}")
	c.hears("bye", "End{the pathway has come to its end}")
}

// TestWaits checks that the brain tells the conversation how long a node waits for the caller, and that the next node's waits replace them.
func TestWaits(t *testing.T) {
	t.Parallel()
	c := newTalk(t, compile(t, nodes(
		say("number", data{"isStart": true, "modelOptions": data{"min_endpointing_delay": 800, "max_endpointing_delay": 6000}}),
		say("thanks", data{}),
		node("bye", graph.NodeEnd, data{})), ways("number thanks: ok", "thanks bye: bye")))
	b := must(pathway.NewBrain(pathway.BrainConfig{Interpreter: c.interpreter, Graph: c.graph}))
	for _, turn := range []struct {
		in   conversation.Turn
		want conversation.Expect
		ends bool
	}{
		{conversation.Turn{Kind: conversation.TurnStart}, conversation.Expect{Least: 800 * time.Millisecond, Longest: 6 * time.Second}, false},
		{speech("ok"), conversation.Expect{}, false},
		{speech("bye"), conversation.Expect{}, true},
	} {
		var last conversation.Step
		for step, err := range b.Respond(t.Context(), turn.in) {
			if err != nil {
				t.Fatal(err)
			}
			last = step
		}
		if _, ends := last.(conversation.End); ends != turn.ends || !ends && !reflect.DeepEqual(last, turn.want) {
			t.Errorf("after %q the last step is %#v, want %#v, end: %t", turn.in.Text, last, turn.want, turn.ends)
		}
	}
}

// TestExpectedAnswer checks that the brain tells the conversation which form of answer a node expects, by the variables that it still
// extracts and, if their forms differ, by its words.
func TestExpectedAnswer(t *testing.T) {
	t.Parallel()
	phone := []any{"phone", "string", "the caller's number, 10 digits"}
	for name, tt := range map[string]struct {
		text string
		vars []any
		want expect.Answer
	}{
		"one variable":            {"How can I reach you?", []any{phone}, expect.Answer{Kind: expect.Digits, Min: 10, Max: 10}},
		"the words decide":        {"What is your e-mail address?", []any{phone, []any{"email", "string", ""}}, expect.Answer{Kind: expect.Email}},
		"the words ask for none":  {"Who are you?", []any{phone, []any{"email", "string", ""}}, expect.Answer{}},
		"consent":                 {"Is that right?", []any{[]any{"right", "boolean", ""}}, expect.Answer{Kind: expect.YesNo}},
		"a variable without form": {"Who are you?", []any{[]any{"name", "string", ""}}, expect.Answer{}},
		"no variable":             {"What is your phone number?", nil, expect.Answer{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := data{"isStart": true, "text": tt.text}
			if tt.vars != nil {
				d["extractVars"] = tt.vars
			}
			c := newTalk(t, compile(t, nodes(node("ask", graph.NodeDefault, d), node("bye", graph.NodeEnd, data{})), ways("ask bye: bye")))
			b := must(pathway.NewBrain(pathway.BrainConfig{Interpreter: c.interpreter, Graph: c.graph}))
			var got expect.Answer
			for step, err := range b.Respond(t.Context(), conversation.Turn{Kind: conversation.TurnStart}) {
				if err != nil {
					t.Fatal(err)
				}
				if e, ok := step.(conversation.Expect); ok {
					got = e.Answer
				}
			}
			if got != tt.want {
				t.Errorf("expects %v, want %v", got, tt.want)
			}
		})
	}
}

// TestScripted checks a conversation along every type of node, led by the scripted model.
func TestScripted(t *testing.T) {
	t.Parallel()
	b := must(pathway.NewBrain(pathway.BrainConfig{
		Interpreter: &pathway.Interpreter{Model: scripted.New(), Requests: &agentstest.Requests{}}, Graph: shop(t),
		Agent: pathway.Agent{FirstSentence: "Hello.", Persona: "You are brief."},
	}))
	const hints = " {[how much when open a person Tuesday Thursday]}"
	for _, turn := range [][2]string{
		{"", "{Hello.} {Which day, Tuesday or Thursday?}" + hints},
		{"hm", "{Sorry.} {Which day, Tuesday or Thursday?}" + hints},
		{"How much is it?", "{price.} {Which day, Tuesday or Thursday?}" + hints},
		{"When do you open?", "{We open at nine.} {[how much a person]}"},
		{"I see", "{Which day, Tuesday or Thursday?}" + hints},
		{"Thursday", "{One moment.} {1 false} {Thursday it is.} {Anything else?} {[how much when open a person nothing a moment]}"},
		{"a person", "{Wait.} {+15550100}"},
	} {
		in := speech(turn[0])
		if turn[0] == "" {
			in = conversation.Turn{Kind: conversation.TurnStart}
		}
		if got, err := answers(t.Context(), b, in, 99); err != nil || got != turn[1] {
			t.Errorf("after %q it says\n%s, error %v\nwant\n%s", turn[0], got, err, turn[1])
		}
	}
	s := b.State()
	if got := strings.Join(s.Visited, " "); got != "day price day hours day hook keys done person" || !s.Over || s.Variables["day"] != "Thursday" {
		t.Errorf("it has visited %s, variables %v", got, s.Variables)
	}
	if got, err := answers(t.Context(), b, conversation.Turn{Kind: conversation.TurnStart}, 99); err != nil || !strings.Contains(got, "nobody could be reached") {
		t.Errorf("after the transfer it says %s, error %v", got, err)
	}
	if got, err := answers(t.Context(), b, speech("hm"), 2); err != nil || got != "{Thursday it is.} {Anything else?}" {
		t.Errorf("then it says %s, error %v", got, err)
	}
	if got, err := answers(t.Context(), b, speech("nothing"), 99); err != nil || got != "{Goodbye.} {the pathway has come to its end}" {
		t.Errorf("at the end it says %s, error %v", got, err)
	}
}
