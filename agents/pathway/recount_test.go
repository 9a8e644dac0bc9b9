package pathway_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// TestNumberOfAnotherLength checks that a number is only known with the number of digits that its description names, that the agent says how
// many it has heard, and that it asks again twice.
func TestNumberOfAnotherLength(t *testing.T) {
	t.Parallel()
	const (
		right    = "two zero two triple five oh one four seven"
		nine     = "two zero two triple five zero one four"
		twenty   = right + " " + right
		heard9   = "I heard 9 digits. Could you say the whole number again, please?"
		heard20  = "I heard 20 digits. Could you say the whole number again, please?"
		readBack = "We call 2025550147. End{the pathway has come to its end}"
		without  = "Without a number. End{the pathway has come to its end}"
	)
	for name, tt := range map[string]struct {
		language string
		turns    [][2]string
	}{
		"the right length":          {"", [][2]string{{right, readBack}}},
		"corrected":                 {"", [][2]string{{"two zero three no wait " + right, readBack}}},
		"nine and twenty":           {"en-US", [][2]string{{nine, heard9}, {twenty, heard20}, {right, readBack}}},
		"three times":               {"", [][2]string{{nine, heard9}, {nine, heard9}, {nine, without}}},
		"no digits":                 {"", [][2]string{{"hello", without}}},
		"with a question between":   {"", [][2]string{{nine, heard9}, {"where can I park", "park. Which number?"}, {nine, heard9}, {nine, heard9}, {nine, without}}},
		"with a question in it":     {"", [][2]string{{"where can I park, two zero two five", "park. Which number?"}}},
		"in another language":       {"de", [][2]string{{"zwei null zwei fünf", "Ich habe 4 Ziffern gehört. Können Sie bitte die ganze Nummer noch einmal sagen?"}}},
		"only digits that are keys": {"", [][2]string{{"(pressed 202555)", "I heard 6 digits. Could you say the whole number again, please?"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, compile(t, nodes(
				node("phone", graph.NodeDefault, data{"isStart": true, "text": "Which number?", "extractVars": []any{
					[]any{"number", "string", "the telephone number of the caller, 10 digits"},
				}}),
				say("park", data{"isGlobal": true, "globalLabel": `"park"`, "enableGlobalAutoReturn": true}),
				node("bye", graph.NodeEnd, data{"text": "We call {{number}}."}), node("none", graph.NodeEnd, data{"text": "Without a number."}),
			), ways("phone bye: number is known", "phone none: otherwise")))
			c.interpreter.Model, c.agent.Language = quiet{scripted.New()}, tt.language
			c.begins("Which number? Expect{[]}")
			for _, turn := range tt.turns {
				if got, err := c.step(t.Context(), speech(turn[0]), 99); err != nil || strings.TrimSuffix(got, " Expect{[]}") != turn[1] {
					t.Errorf("%q is answered with %q, error %v; want %q", turn[0], got, err, turn[1])
				}
			}
		})
	}
}

// quiet hides the hints of a model.
type quiet struct{ llm.Model }

// TestWrongNumberOfAModel checks that a value of the wrong length that a language model has found is not known, and that the log says so
// without its digits.
func TestWrongNumberOfAModel(t *testing.T) {
	t.Parallel()
	c := newTalk(t, compile(t, nodes(
		node("ask", graph.NodeDefault, data{"isStart": true, "text": "Your PIN?", "extractVars": []any{
			[]any{"pin", "integer", "the PIN, 4 to 6 digits"}, []any{"name", "string", "the name"},
		}}), node("bye", graph.NodeEnd, nil)), ways("ask bye: it is pin")))
	c.begins("Your PIN? Expect{[]}")
	c.hears("it is pin=123 name=Ada", "I heard 3 digits. Could you say the whole number again, please? Expect{[]}")
	c.logged("error ask: pin is not set, because the number has 3 digits: its description asks for 4 to 6\nvariables askmap[name:Ada]",
		pathway.LogError, pathway.LogVariables)
	c.hears("it is pin=7", "Sorry, I did not catch that. Could you say it again? Expect{[]}")
	c.turn(conversation.Turn{Kind: conversation.TurnSpeech, Text: "it is pin=12345"}, "End{the pathway has come to its end}")
	if c.state.Variables["pin"] != int64(12345) || c.state.Recounts != 0 {
		t.Errorf("the state is %+v", c.state)
	}
}
