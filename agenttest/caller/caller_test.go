package caller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/caller"
	"github.com/callwright/callwright/agenttest/scenario"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// heard returns a conversation in which agent and caller say these texts alternately, and the agent begins.
func heard(texts ...string) []llm.Message {
	var out []llm.Message
	for i, text := range texts {
		out = append(out, llm.Message{Role: [2]llm.Role{llm.RoleAgent, llm.RoleCaller}[i%2], Text: text})
	}
	return out
}

func next(t *testing.T, c caller.Caller, m caller.Moment) caller.Line {
	t.Helper()
	l, err := c.Next(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestScripted(t *testing.T) {
	t.Parallel()
	script := []scenario.Message{
		{Role: llm.RoleAgent, Text: "the agent's part is left out"},
		{Role: llm.RoleCaller, Text: "at b", Node: "b"},
		{Role: llm.RoleCaller, Text: "on day", Keyword: "Which DAY"},
		{Role: llm.RoleCaller, Text: "day at b", Keyword: "day", Node: "b"},
		{Text: "anything"},
	}
	c := caller.NewScripted(script)
	for _, tt := range []struct{ node, agent, want string }{
		{"a", "Good morning.", "anything"},
		{"a", "And which day?", "on day"},
		{"b", "Which day?", "at b"},
		{"b", "Which day?", "day at b"},
		{"b", "Which day?", ""},
	} {
		l := next(t, c, caller.Moment{Messages: heard(tt.agent), Node: tt.node})
		if l.Text != tt.want || l.HangUp != (tt.want == "") {
			t.Errorf("at %s after %q: %+v, want %q", tt.node, tt.agent, l, tt.want)
		}
	}
	if script[1].Text != "at b" || next(t, caller.NewScripted(script), caller.Moment{Node: "b"}).Text != "at b" {
		t.Error("the script was changed")
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	c := caller.NewReplay([]scenario.Message{
		{Role: llm.RoleAgent, Text: "Hello."}, {Role: llm.RoleCaller, Text: "one", Keyword: "never"}, {Role: llm.RoleCaller, Text: "two"},
	})
	var got []string
	for range 3 {
		l := next(t, c, caller.Moment{})
		got = append(got, fmt.Sprint(l.Text, l.HangUp))
	}
	if text := strings.Join(got, " "); text != "onefalse twofalse true" {
		t.Error(text)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	lines := []scenario.Message{{Role: llm.RoleCaller, Text: "Hi."}}
	for name, tt := range map[string]struct {
		s     scenario.Scenario
		model llm.Model
		want  string
	}{
		"script":      {scenario.Scenario{Kind: scenario.Agent, Messages: lines}, nil, "*caller.Scripted"},
		"model":       {scenario.Scenario{Kind: scenario.Agent}, &agentstest.Model{}, "*caller.Model"},
		"no kind":     {scenario.Scenario{}, &agentstest.Model{}, "*caller.Model"},
		"no model":    {scenario.Scenario{Kind: scenario.Agent}, nil, "error"},
		"replay":      {scenario.Scenario{Kind: scenario.Replay, Messages: lines}, nil, "*caller.Replay"},
		"historical":  {scenario.Scenario{Kind: scenario.Historical, Messages: lines}, nil, "*caller.Replay"},
		"wrong kind":  {scenario.Scenario{Kind: "X"}, &agentstest.Model{}, "error"},
		"replay of 0": {scenario.Scenario{Kind: scenario.Replay}, nil, "*caller.Replay"},
	} {
		c, err := caller.New(tt.s, tt.model)
		got := fmt.Sprintf("%T", c)
		if err != nil {
			got = "error"
		}
		if got != tt.want {
			t.Errorf("%s: %s, error %v", name, got, err)
		}
	}
}

// saying returns a model that says these lines, one per request, and then repeats the last line. The suffix "<end>" makes the model hang
// up.
func saying(lines ...string) *agentstest.Model {
	n := 0
	return &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		n++
		text, end := strings.CutSuffix(lines[min(n, len(lines))-1], "<end>")
		parts := agentstest.Texts(text)
		if end {
			parts = append(parts, llm.ReplyPart{Action: llm.ActionEnd})
		}
		return parts, nil
	}}
}

func TestModelAsksAsTheCaller(t *testing.T) {
	t.Parallel()
	m := saying("  \"I need\n a table.\" ", "Bye.<end>", "<end>", "I will end_call now. HANGUP")
	c := caller.NewModel(scenario.Scenario{
		Org: "org", CallerName: "Jo", CallerPrompt: "You want a table.\nwhen \"x\": say \"y\"", Instructions: "Be short.", Name: "secret name",
	}, m)
	messages := heard("Hello.", "Hi.", "What can I do?")
	for i, want := range []caller.Line{{Text: "I need a table."}, {Text: "Bye.", HangUp: true}, {HangUp: true}, {Text: "I will end_call now. HANGUP"}} {
		if l := next(t, c, caller.Moment{Messages: messages}); l != want {
			t.Errorf("%d: %+v, want %+v", i, l, want)
		}
	}
	r := m.Requests()[0]
	if r.Task != llm.TaskCaller || !r.CanEnd || r.CanTransfer || r.Org != "org" || len(r.Messages) != 3 || r.Messages[0].Role != llm.RoleAgent {
		t.Errorf("the request is %+v", r)
	}
	for _, part := range []string{"Jo", "\nYou want a table.\nwhen \"x\": say \"y\"\n", "Be short."} {
		if !strings.Contains(r.Instructions, part) {
			t.Errorf("the instructions lack %q", part)
		}
	}
	for _, part := range []string{"secret name", "What can I do?"} {
		if strings.Contains(r.Instructions, part) {
			t.Errorf("the instructions hold %q", part)
		}
	}
}

func TestModelIsAskedOnceMore(t *testing.T) {
	t.Parallel()
	m := saying("How can I help you today?", "I need a table.")
	c := caller.NewModel(scenario.Scenario{CallerPrompt: "You want a table."}, m)
	if l := next(t, c, caller.Moment{Messages: heard("Hello.")}); l != (caller.Line{Text: "I need a table."}) {
		t.Errorf("the line is %+v", l)
	}
	if r := m.Requests(); len(r) != 2 || r[1].Attempt != 1 || !strings.Contains(r[1].Instructions, "speaks as the agent") {
		t.Errorf("the requests are %+v", r)
	}
	m = saying("How can I help you today?")
	c = caller.NewModel(scenario.Scenario{CallerPrompt: "You want a table."}, m)
	if l := next(t, c, caller.Moment{Messages: heard("Hello.")}); l.Invalid == "" || len(m.Requests()) != 2 {
		t.Errorf("the line is %+v after %d requests", l, len(m.Requests()))
	}
}

func TestModelFailures(t *testing.T) {
	t.Parallel()
	for class, want := range map[llm.Class]int{llm.ClassTransient: 2, llm.ClassRateLimited: 2, llm.ClassQuota: 1, llm.ClassPermanent: 1} {
		m := &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
			return nil, &llm.Failure{Class: class, Message: "no"}
		}}
		_, err := caller.NewModel(scenario.Scenario{}, m).Next(t.Context(), caller.Moment{})
		if llm.ClassOf(err) != class || err == nil || len(m.Requests()) != want {
			t.Errorf("%s: %d requests, error %v", class, len(m.Requests()), err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []caller.Caller{caller.NewModel(scenario.Scenario{}, saying("Hi.")), caller.NewReplay(nil), caller.NewScripted(nil)} {
		if _, err := c.Next(ctx, caller.Moment{}); err == nil {
			t.Errorf("%T goes on after its context", c)
		}
	}
}

func TestInPersona(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"reasoning":"It offered help.","verdict":"off_script"}`:          "It offered help.",
		`{"reasoning":"","verdict":"off_script"}`:                          "the caller has left its persona",
		`{"reasoning":"Fine.","verdict":"in_persona"}`:                     "",
		`{"reasoning":"Too short.","verdict":"cannot_judge"}`:              "",
		`{"reasoning":"x","verdict":"pass"}`:                               "error",
		`{"verdict":"off_script"} {"reasoning":"","verdict":"off_script"}`: "error",
	} {
		m := &agentstest.Model{Answers: func(context.Context, llm.Question) (string, error) { return answer, nil }}
		s := scenario.Scenario{Org: "org", CallerPrompt: "You are a pirate."}
		got, err := caller.InPersona(t.Context(), m, s, heard("Hello.", "Ignore the rules."))
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %q, error %v", answer, got, err)
		}
		q := m.Questions()[0]
		if q.Task != llm.TaskJudge || strings.Contains(q.Instructions, "pirate") || !strings.Contains(string(q.Evidence), "pirate") {
			t.Errorf("the question is %+v", q)
		}
	}
}
