package prompted_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/prompted"
	"github.com/callwright/callwright/agents/tool"
)

// model returns scripted replies in turn, and records the requests.
type model struct {
	replies  [][]any // string, llm.Action, []string (expected phrases), *llm.ToolCall or error
	requests []llm.ReplyRequest
}

func (m *model) Name() string { return "fake" }

func (m *model) Reply(_ context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		m.requests = append(m.requests, r)
		parts := m.replies[0]
		m.replies = m.replies[1:]
		for _, p := range parts {
			var part llm.ReplyPart
			var err error
			switch p := p.(type) {
			case string:
				part.Text = p
			case llm.Action:
				part.Action = p
			case []string:
				part.Expect = p
			case *llm.ToolCall:
				part.Call = p
			case error:
				err = p
			}
			if !yield(part, err) {
				return
			}
		}
	}
}

func (m *model) Answer(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{}, &llm.Failure{Class: llm.ClassUnsupported, Message: "it only talks"}
}

// history returns the messages of the last request as "role: text", separated by " | ".
func (m *model) history() string {
	var out []string
	for _, msg := range m.requests[len(m.requests)-1].Messages {
		out = append(out, string(msg.Role)+": "+msg.Text)
	}
	return strings.Join(out, " | ")
}

func newBrain(t *testing.T, c prompted.Config) *prompted.Brain {
	t.Helper()
	if c.Task == "" {
		c.Task = "Talk."
	}
	b, err := prompted.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// respond runs a turn, stops after the given number of steps, and returns the steps as text.
func respond(b *prompted.Brain, turn conversation.Turn, most int) (string, error) {
	var out []string
	for s, err := range b.Respond(context.Background(), turn) {
		if err != nil {
			return strings.Join(out, " / "), err
		}
		if e, ok := s.(conversation.Expect); ok {
			out = append(out, fmt.Sprintf("Expect{Phrases:%v}", e.Phrases))
		} else {
			out = append(out, strings.TrimPrefix(fmt.Sprintf("%T%+v", s, s), "conversation."))
		}
		if len(out) == most {
			break
		}
	}
	return strings.Join(out, " / "), nil
}

func expect(t *testing.T, b *prompted.Brain, turn conversation.Turn, want string) {
	t.Helper()
	got, err := respond(b, turn, 99)
	if err != nil || got != want {
		t.Errorf("%+v is answered with\n%s, %v\nwant\n%s", turn, got, err, want)
	}
}

func speech(text string) conversation.Turn {
	return conversation.Turn{Kind: conversation.TurnSpeech, Text: text}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []prompted.Config{
		{Task: "x"}, {Model: &model{}}, {Model: &model{}, Task: " \n"}, {Model: &model{}, Task: "x", Tools: &tool.Set{}},
	} {
		if _, err := prompted.New(c); err == nil {
			t.Errorf("%+v is fine", c)
		}
	}
}

func TestBrain(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"", "Hello. It is me."} {
		agentstest.RunBrain(t, func(t *testing.T) conversation.Brain {
			return newBrain(t, prompted.Config{Model: &agentstest.Model{Says: echo}, FirstSentence: first})
		})
	}
}

func TestDialogue(t *testing.T) {
	t.Parallel()
	heat := 0.3
	m := &model{replies: [][]any{
		{"Which ", "day? Mon", "day or Tuesday?", []string{"monday", "tuesday"}},
		{[]string{"yes"}, "Right. "},
		{"Good", "bye.", llm.ActionEnd},
	}}
	b := newBrain(t, prompted.Config{
		Model: m, Org: "org", Task: "Ask {{who}}.", FirstSentence: "Hello {{who}}. It is me.", Language: "en-US",
		ModelName: "base", Temperature: &heat, Variables: map[string]any{"who": "Ada"},
	})
	expect(t, b, conversation.Turn{Kind: conversation.TurnStart}, "Say{Text:Hello Ada.} / Say{Text:It is me.}")
	expect(t, b, speech("hi"), "Say{Text:Which day?} / Expect{Phrases:[monday tuesday]} / Say{Text:Monday or Tuesday?}")
	r := m.requests[0]
	if r.Org != "org" || r.Instructions != "Ask Ada." || r.Language != "en-US" || r.Model != "base" || *r.Temperature != heat || r.CanTransfer {
		t.Errorf("the request is %+v", r)
	}
	expect(t, b, conversation.Turn{Kind: conversation.TurnDigits, Text: "12"}, "Expect{Phrases:[yes]} / Say{Text:Right.}")
	expect(t, b, speech("bye"), "Say{Text:Goodbye.} / End{Reason:the agent was done}")
	if got, want := m.history(), "agent: Hello Ada. It is me. | caller: hi | agent: Which day? Monday or Tuesday? | "+
		"caller: (pressed 12) | agent: Right. | caller: bye"; got != want {
		t.Errorf("the model saw %s\nwant %s", got, want)
	}
}

// TestSpeaksFirst checks that the model produces a missing first sentence, and that a later request contains the caller's greeting.
func TestSpeaksFirst(t *testing.T) {
	t.Parallel()
	m := &model{replies: [][]any{{"Hello."}}}
	expect(t, newBrain(t, prompted.Config{Model: m}), conversation.Turn{Kind: conversation.TurnStart}, "Say{Text:Hello.}")
	if m.history() != "" {
		t.Errorf("the model saw %s", m.history())
	}
	m = &model{replies: [][]any{{"Fine."}}}
	b := newBrain(t, prompted.Config{Model: m, FirstSentence: "I am Bob."})
	expect(t, b, speech("Hello?"), "Say{Text:I am Bob.}")
	expect(t, b, speech("And?"), "Say{Text:Fine.}")
	if want := "caller: Hello? | agent: I am Bob. | caller: And?"; m.history() != want {
		t.Errorf("the model saw %s, want %s", m.history(), want)
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	t.Run("the history has what was heard", func(t *testing.T) {
		t.Parallel()
		m := &model{replies: [][]any{{"One. Two. Three. Four."}, {"Sorry."}, {"Fine."}}}
		b := newBrain(t, prompted.Config{Model: m})
		if got, _ := respond(b, speech("go"), 3); got != "Say{Text:One.} / Say{Text:Two.} / Say{Text:Three.}" {
			t.Errorf("said %s", got)
		}
		expect(t, b, conversation.Turn{Kind: conversation.TurnSpeech, Text: "stop", Interrupted: true, Heard: "One. Two."}, "Say{Text:Sorry.}")
		if want := "caller: go | agent: One. Two. | caller: stop"; m.history() != want || m.requests[1].Unheard != "Three." {
			t.Errorf("the model saw %s, unheard %q, want %s", m.history(), m.requests[1].Unheard, want)
		}
		expect(t, b, speech("ok"), "Say{Text:Fine.}")
		if m.requests[2].Unheard != "" {
			t.Errorf("after an answer that was heard completely, %q is unheard", m.requests[2].Unheard)
		}
	})
	t.Run("nothing was heard", func(t *testing.T) {
		t.Parallel()
		m := &model{replies: [][]any{{"One."}, {"Two."}}}
		b := newBrain(t, prompted.Config{Model: m})
		expect(t, b, speech("my number"), "Say{Text:One.}")
		expect(t, b, conversation.Turn{Kind: conversation.TurnSpeech, Text: "is two", Interrupted: true}, "Say{Text:Two.}")
		if want := "caller: my number is two"; m.history() != want || m.requests[1].Unheard != "One." {
			t.Errorf("the model saw %s, unheard %q, want %s", m.history(), m.requests[1].Unheard, want)
		}
	})
	t.Run("by a noise", func(t *testing.T) {
		t.Parallel()
		m := &model{replies: [][]any{{"One. Two. Three."}, {"Fine."}}}
		b := newBrain(t, prompted.Config{Model: m})
		expect(t, b, speech("go"), "Say{Text:One.} / Say{Text:Two.} / Say{Text:Three.}")
		expect(t, b, conversation.Turn{Kind: conversation.TurnSpeech, Interrupted: true, Heard: "One."}, "Say{Text:Two.} / Say{Text:Three.}")
		expect(t, b, speech("ok"), "Say{Text:Fine.}")
		if m.requests[1].Unheard != "" {
			t.Errorf("%q is unheard, although the agent has said it", m.requests[1].Unheard)
		}
		if want := "caller: go | agent: One. | agent: Two. Three. | caller: ok"; m.history() != want {
			t.Errorf("the model saw %s, want %s", m.history(), want)
		}
	})
}

// TestInterruptedRequest checks exactly what the model receives after an interruption: the messages with the heard part of the agent's words,
// also around the calls of tools, and the unheard part from the start of the interrupted clause.
func TestInterruptedRequest(t *testing.T) {
	t.Parallel()
	agent := func(text string, calls ...llm.ToolCall) llm.Message {
		return llm.Message{Role: llm.RoleAgent, Text: text, Calls: calls}
	}
	caller := func(text string) llm.Message { return llm.Message{Role: llm.RoleCaller, Text: text} }
	call := llm.ToolCall{ID: "1", Name: "book", Arguments: json.RawMessage("{}")}
	booked := llm.Message{Role: llm.RoleTool, Text: `{"answer":{}}`, Call: "1"}
	plain := [][]any{{"We open at nine, and close at five. On Sundays we are closed."}}
	withTool := [][]any{{"Let me see.", &call}, {"It is free, and booked. Anything else?"}}
	digits := conversation.Turn{Kind: conversation.TurnDigits, Text: "5"}
	for name, c := range map[string]struct {
		replies [][]any
		turn    conversation.Turn
		heard   string
		want    []llm.Message
		unheard string
	}{
		"in a clause": {
			plain, speech("and now"), "We open at nine, and close", []llm.Message{agent("We open at nine, and close"), caller("and now")},
			"and close at five. On Sundays we are closed.",
		},
		"after a sentence": {
			plain, speech("and now"), "We open at nine, and close at five.", []llm.Message{agent("We open at nine, and close at five."), caller("and now")},
			"On Sundays we are closed.",
		},
		"by a digit": {plain, digits, "We", []llm.Message{agent("We"), caller("(pressed 5)")}, "We open at nine, and close at five. On Sundays we are closed."},
		"at the end": {plain, speech("no"), "We open at nine, and close at five. On Sundays we are closed.", []llm.Message{
			agent("We open at nine, and close at five. On Sundays we are closed."), caller("no"),
		}, ""},
		"before the first word": {plain, speech("now"), "", nil, "We open at nine, and close at five. On Sundays we are closed."},
		"in the words before a tool": {
			withTool, speech("no"), "Let me", []llm.Message{agent("Let me", call), booked, caller("no")},
			"Let me see. I am booking. It is free, and booked. Anything else?",
		},
		"in the speech of a tool": {
			withTool, speech("no"), "Let me see. I am", []llm.Message{agent("Let me see. I am", call), booked, caller("no")},
			"I am booking. It is free, and booked. Anything else?",
		},
		"in the words after a tool": {
			withTool, speech("no"), "Let me see. I am booking. It is free, and", []llm.Message{
				agent("Let me see. I am booking.", call), booked, agent("It is free, and"), caller("no"),
			}, "and booked. Anything else?",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &model{replies: append(slices.Clone(c.replies), []any{"Well."})}
			b := newBrain(t, prompted.Config{Model: m, Tools: bookings(t), Requests: &agentstest.Requests{Answer: agentstest.JSON("{}")}})
			if _, err := respond(b, speech("hi"), 99); err != nil {
				t.Fatal(err)
			}
			turn := c.turn
			turn.Interrupted, turn.Heard = true, c.heard
			expect(t, b, turn, "Say{Text:Well.}")
			want := append([]llm.Message{caller("hi")}, c.want...)
			if c.want == nil {
				want = []llm.Message{caller("hi now")}
			}
			got := m.requests[len(m.requests)-1]
			if !reflect.DeepEqual(got.Messages, want) || got.Unheard != c.unheard {
				t.Errorf("the model receives %+v, unheard %q\nwant %+v, %q", got.Messages, got.Unheard, want, c.unheard)
			}
		})
	}
}

func TestSilenceAndNoise(t *testing.T) {
	t.Parallel()
	silence := conversation.Turn{Kind: conversation.TurnSilence}
	lines := dialogue.Lines{StillThere: "There?", Repeat: "What?", Goodbye: "Bye."}
	const bye = "Say{Text:Bye.} / End{Reason:the caller was not heard}"
	m := &model{replies: [][]any{{"Hello."}, {"Ah."}}}
	b := newBrain(t, prompted.Config{Model: m, Lines: lines})
	expect(t, b, conversation.Turn{Kind: conversation.TurnStart}, "Say{Text:Hello.}")
	expect(t, b, silence, "Say{Text:There?}")
	expect(t, b, silence, "Say{Text:There?}")
	expect(t, b, speech("yes"), "Say{Text:Ah.}")
	expect(t, b, silence, "Say{Text:There?}")
	expect(t, b, silence, "Say{Text:There?}")
	expect(t, b, silence, bye)

	b = newBrain(t, prompted.Config{Model: &model{}, FirstSentence: "Hi.", Lines: lines})
	expect(t, b, speech(""), "Say{Text:Hi.}")
	expect(t, b, speech(""), "Say{Text:What?}")
	expect(t, b, speech(""), bye)
}

func TestTransfer(t *testing.T) {
	t.Parallel()
	m := &model{replies: [][]any{{"Wait.", llm.ActionTransfer}, {"Wait.", llm.ActionTransfer}}}
	expect(t, newBrain(t, prompted.Config{Model: m, TransferTo: "+15550100"}), speech("x"), "Say{Text:Wait.} / Transfer{To:+15550100}")
	if !m.requests[0].CanTransfer {
		t.Error("the model does not know that it can transfer")
	}
	expect(t, newBrain(t, prompted.Config{Model: m}), speech("x"), "Say{Text:Wait.}")
}

func TestFailures(t *testing.T) {
	t.Parallel()
	fail := func(class llm.Class, after time.Duration) error {
		return &llm.Failure{Class: class, Message: "no", RetryAfter: after}
	}
	const sorry = "Say{Text:I am sorry, I have a technical problem and must end the call.} / Say{Text:Goodbye.}"
	for name, c := range map[string]struct {
		replies [][]any
		want    string
		class   llm.Class // empty means no error
		asked   int
		took    time.Duration
	}{
		"transient":           {[][]any{{fail(llm.ClassTransient, 0)}, {"Fine."}}, "Say{Text:Fine.}", "", 2, 0},
		"unknown":             {[][]any{{errors.New("?")}, {"Fine."}}, "Say{Text:Fine.}", "", 2, 0},
		"transient twice":     {[][]any{{fail(llm.ClassTransient, 0)}, {fail(llm.ClassTransient, 0)}}, sorry, llm.ClassTransient, 2, 0},
		"after words":         {[][]any{{"One. ", fail(llm.ClassTransient, 0)}}, "Say{Text:One.} / " + sorry, llm.ClassTransient, 1, 0},
		"over the rate":       {[][]any{{fail(llm.ClassRateLimited, time.Second)}, {"Fine."}}, "Say{Text:Fine.}", "", 2, time.Second},
		"far over the rate":   {[][]any{{fail(llm.ClassRateLimited, time.Minute)}}, sorry, llm.ClassRateLimited, 1, 0},
		"used up":             {[][]any{{fail(llm.ClassQuota, 0)}}, sorry, llm.ClassQuota, 1, 0},
		"wrong":               {[][]any{{fail(llm.ClassPermanent, 0)}}, sorry, llm.ClassPermanent, 1, 0},
		"too long":            {[][]any{{fail(llm.ClassTooLong, 0)}}, sorry, llm.ClassTooLong, 1, 0},
		"a stand-in can't":    {[][]any{{fail(llm.ClassUnsupported, 0)}}, sorry, llm.ClassUnsupported, 1, 0},
		"empty":               {[][]any{{}, {"Fine."}}, "Say{Text:Fine.}", "", 2, 0},
		"blank":               {[][]any{{" ", "\n"}, {"", "Fine."}}, "Say{Text:Fine.}", "", 2, 0},
		"blank twice":         {[][]any{{" "}, {[]string{"yes"}, "\n"}}, "Expect{Phrases:[yes]} / " + sorry, llm.ClassTransient, 2, 0},
		"half a sentence out": {[][]any{{"One", fail(llm.ClassTransient, 0)}, {"Two."}}, "Say{Text:Two.}", "", 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &model{replies: c.replies}
				began := time.Now()
				got, err := respond(newBrain(t, prompted.Config{Model: m}), speech("x"), 99)
				if got != c.want || (err != nil) != (c.class != "") || (err != nil && llm.ClassOf(err) != c.class) {
					t.Errorf("got %s, %v", got, err)
				}
				if len(m.requests) != c.asked || time.Since(began) != c.took {
					t.Errorf("asked %d times in %s", len(m.requests), time.Since(began))
				}
			})
		})
	}
}

func ExampleNew() {
	m := &model{replies: [][]any{{"Very well. ", "See you, Ada."}}}
	brain, err := prompted.New(prompted.Config{
		Model:         m,
		Task:          "Remind {{name}} of the appointment.",
		FirstSentence: "Hello {{name}}, will you come tomorrow?",
		Variables:     map[string]any{"name": "Ada"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, turn := range []conversation.Turn{
		{Kind: conversation.TurnStart},
		{Kind: conversation.TurnSpeech, Text: "yes"},
	} {
		for step, err := range brain.Respond(context.Background(), turn) {
			fmt.Println(step, err)
		}
	}
	// Output:
	// {Hello Ada, will you come tomorrow?} <nil>
	// {Very well.} <nil>
	// {See you, Ada.} <nil>
}

// TestCallerAsksToWait checks that the model is not asked about a request to wait, and that only the first of two requests is answered.
func TestCallerAsksToWait(t *testing.T) {
	t.Parallel()
	m := &model{replies: [][]any{{"Your number?"}, {"Thanks."}}}
	b := newBrain(t, prompted.Config{Model: m, Language: "fr-CA"})
	expect(t, b, speech("hi"), "Say{Text:Your number?}")
	expect(t, b, speech("un instant"), "Say{Text:Bien sûr, prenez votre temps.} / Wait{For:1m0s}")
	expect(t, b, speech("une seconde"), "Wait{For:1m0s}")
	expect(t, b, speech("12"), "Say{Text:Thanks.}")
	if len(m.requests) != 2 || !strings.HasSuffix(m.history(), "caller: un instant | agent: Bien sûr, prenez votre temps. | caller: une seconde 12") {
		t.Errorf("the model saw %s", m.history())
	}
}
