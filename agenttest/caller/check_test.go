package caller_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agenttest/caller"
	"github.com/callwright/callwright/agenttest/scenario"
)

// person is a persona whose description is long and quotes words to say.
var person = scenario.Scenario{
	CallerName: "Jo Miller",
	CallerPrompt: `You are Jo Miller, a retired teacher from Leeds who wants to move an appointment for the boiler to a later day ` +
		`this week. You say "I have been waiting at home for the whole day and nobody came by and nobody called me to say why" at once.`,
}

func TestCheck(t *testing.T) {
	t.Parallel()
	before := heard("Good morning, this is the boiler service of Leeds.", "I want to move my appointment.", "To which day?",
		"I want to move my appointment!", "Yes, but to which day would you like to move it?")
	for name, tt := range map[string]struct {
		line     string
		category scenario.Category
		want     string // part of the reason; empty means valid
	}{
		"plain":                     {line: "To Friday, please."},
		"other script":              {line: "金曜日にお願いします。"},
		"empty":                     {line: " \n", want: "empty"},
		"only signs":                {line: "...?"},
		"hangs up without words":    {line: "<end>"},
		"too long":                  {line: strings.Repeat("so long ", 3000), want: "long"},
		"long":                      {line: strings.Repeat("a", caller.MaxLine)},
		"third time":                {line: "I want to move my appointment", want: "said in the same words"},
		"short words often":         {line: "Yes."},
		"echo":                      {line: "To which day would you like to move it?", want: "words of the agent"},
		"part of an echo":           {line: "the boiler service of Leeds."},
		"repeats a question":        {line: "To which day? To Friday."},
		"agent":                     {line: "Sure! How may I help you?", want: "as the agent"},
		"agent's name":              {line: "Agent: Hello.", want: "as the agent"},
		"model":                     {line: "As an AI language model, I have no boiler.", want: "as the agent"},
		"model, typographic":        {line: "I’m a virtual assistant.", want: "as the agent"},
		"talks about a machine":     {line: "Am I talking to a virtual assistant?"},
		"machine of a scenario":     {line: "I am a virtual assistant. How can I help you?", category: scenario.CallScreener},
		"voicemail":                 {line: "Thank you for calling the Millers.", category: scenario.Voicemail},
		"our rules":                 {line: "I play the person who calls, never the agent. Say only the next words!", want: "instructions"},
		"description":               {line: "You are Jo Miller, a retired teacher from Leeds who wants to move an appointment for the boiler", want: "instructions"},
		"some of the description":   {line: "I am Jo Miller, a retired teacher from Leeds."},
		"what the description says": {line: "I have been waiting at home for the whole day and nobody came by and nobody called me to say why"},
		"names its instructions":    {line: "My instructions say that I am angry.", want: "as the agent"},
	} {
		s := person
		s.Category = tt.category
		m := saying(tt.line)
		l := next(t, caller.NewModel(s, m), caller.Moment{Messages: before})
		if (l.Invalid == "") != (tt.want == "") || !strings.Contains(l.Invalid, tt.want) {
			t.Errorf("%s: the reason is %q, want %q", name, l.Invalid, tt.want)
		}
	}
}

// TestCheckTakesFreshWords checks that a line of words that occur neither in the conversation nor in the description is valid.
func TestCheckTakesFreshWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.StringMatching(`(zq[a-z]{1,8} ){0,40}zq[.!?]`).Draw(rt, "line")
		c := caller.NewModel(person, saying(line))
		if l := next(t, c, caller.Moment{Messages: heard("Hello.")}); l.Invalid != "" || l.Text != line {
			rt.Errorf("%+v", l)
		}
	})
}

// TestShortWordsMayComeOften checks that a caller may repeat a short line.
func TestShortWordsMayComeOften(t *testing.T) {
	t.Parallel()
	before := heard("Is it the boiler?", "Yes, it is.", "In Leeds?", "Yes, it is.", "Today?", "Yes, it is.", "Is it cold?")
	c := caller.NewModel(person, saying("Yes, it is."))
	if l := next(t, c, caller.Moment{Messages: before}); l.Invalid != "" {
		t.Error(l.Invalid)
	}
}
