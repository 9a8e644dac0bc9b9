package pathway_test

import (
	"fmt"
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// practice returns a graph whose first node says a long text and asks a question, to which the caller says yes or no.
func practice(t testing.TB) *graph.Graph {
	const text = "We are open from Monday to Thursday. A check up costs sixty dollars. Would you like to book?"
	return compile(t, nodes(
		node("hours", graph.NodeDefault, data{"isStart": true, "text": text, "extractVars": []any{
			[]any{"wants", "boolean", "whether the caller wants to book"}, []any{"guests", "integer", "how many people"},
			[]any{"day", "string", `"Tuesday" or "Friday"`},
		}}),
		say("park", data{"isGlobal": true, "globalLabel": `"park"`, "enableGlobalAutoReturn": true}),
		say("who", data{"isGlobal": true, "globalLabel": `"who"`}),
		node("yes", graph.NodeEnd, data{"text": "Booked."}), node("no", graph.NodeEnd, data{"text": "Bye."}),
	), ways("hours yes: wants is true", "hours no: wants is false"))
}

// TestAnswerBeforeTheQuestion checks that a boolean variable is extracted only from words after the beginning of the question, and texts and
// numbers from all words.
func TestAnswerBeforeTheQuestion(t *testing.T) {
	t.Parallel()
	const first, costs, asks = "We are open from Monday to Thursday.", " A check up costs sixty dollars.", " Would you like to book?"
	for name, tt := range map[string]struct {
		turns []conversation.Turn
		want  string // the variables
	}{
		"no in the text":              {[]conversation.Turn{cut("no stop talking please I have a question", first)}, "map[]"},
		"yes in the text":             {[]conversation.Turn{cut("yes I know", first+costs)}, "map[]"},
		"after a word of it":          {[]conversation.Turn{cut("yes", first+costs+" Would")}, "map[wants:true]"},
		"after all of it":             {[]conversation.Turn{speech("no thanks")}, "map[wants:false]"},
		"values that the caller says": {[]conversation.Turn{cut("yes four people on Friday", first)}, "map[day:Friday guests:4]"},
		"one question is no number":   {[]conversation.Turn{cut("just one question", first)}, "map[]"},
		"while the text waits":        {[]conversation.Turn{cut("stop please", first), speech("no, why")}, "map[]"},
		"after the rest":              {[]conversation.Turn{cut("hm", first), cut("sure", "A check up costs sixty dollars. Would you")}, "map[wants:true]"},
		"in the rest":                 {[]conversation.Turn{cut("hm", first), cut("sure", "A check up")}, "map[]"},
		"after an aside and the rest": {[]conversation.Turn{cut("can I park there", first), speech("yes")}, "map[wants:true]"},
		"in the aside":                {[]conversation.Turn{cut("can I park there", first), cut("no", "par")}, "map[]"},
		"at a node beside it":         {[]conversation.Turn{cut("who are you", first), speech("no")}, "map[]"},
		"digits":                      {[]conversation.Turn{{Kind: conversation.TurnDigits, Text: "1", Interrupted: true, Heard: first}}, "map[guests:1]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, practice(t))
			c.interpreter.Model = scripted.New()
			for i, turn := range append([]conversation.Turn{{Kind: conversation.TurnStart}}, tt.turns...) {
				if _, err := c.step(t.Context(), turn, 1000); err != nil {
					t.Fatalf("turn %d: %v", i, err)
				}
			}
			if got := fmt.Sprint(c.state.Variables); got != tt.want {
				t.Errorf("the variables are %s, want %s", got, tt.want)
			}
		})
	}
}

// TestUnaskedQuestionIsNotExpected checks that consent is expected after the question, and not while the text with the question waits.
func TestUnaskedQuestionIsNotExpected(t *testing.T) {
	t.Parallel()
	g := compile(t, nodes(node("ask", graph.NodeDefault, data{
		"isStart": true, "text": "One. Would you like to book?", "extractVars": []any{[]any{"wants", "boolean", ""}},
	}), node("yes", graph.NodeEnd, nil)), ways("ask yes: wants is true"))
	interpreter := &pathway.Interpreter{Model: scripted.New()}
	var state pathway.State
	for _, tt := range []struct {
		turn conversation.Turn
		want expect.Kind
	}{
		{conversation.Turn{Kind: conversation.TurnStart}, expect.YesNo},
		{cut("stop please", "One."), expect.Free},
		{speech("hm"), expect.YesNo},
	} {
		var got expect.Kind
		var err error
		state, _, err = interpreter.Step(t.Context(), g, pathway.Agent{}, state, tt.turn, func(s conversation.Step) bool {
			if e, ok := s.(conversation.Expect); ok {
				got = e.Answer.Kind
			}
			return true
		})
		if err != nil || got != tt.want {
			t.Errorf("after %q, %q is expected, error %v; want %q", tt.turn.Text, got, err, tt.want)
		}
	}
}
