package scripted_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

const dentist = `You arrange appointments for a dentist. When the caller answers, be friendly.
start: say "Good morning. Monday or Tuesday?"
when "monday" or "tuesday": say "In the morning or in the afternoon?"
- When "morning" or "afternoon" after "in the morning or": say “That is noted. Goodbye.” and end.
when "human", "clerk": never read, because it does not parse
when "human": say "One moment, please." and transfer
otherwise: say "Monday or Tuesday?"`

var good = strings.Replace(dentist, "when \"human\", \"clerk\": never read, because it does not parse\n", "", 1)

func TestModel(t *testing.T) {
	t.Parallel()
	agentstest.RunModel(t, agentstest.ModelHarness{
		New:  func(*testing.T) llm.Model { return scripted.New(scripted.Rule{Task: llm.TaskJudge, Answer: "true"}) },
		Task: "Note what the caller wants.",
		Ends: &agentstest.Scene{Request: llm.ReplyRequest{
			Instructions: `when "table": say "Noted. Goodbye." and end`,
			Messages:     []llm.Message{{Role: llm.RoleAgent, Text: "Yes?"}, {Role: llm.RoleCaller, Text: "A table for two."}},
		}},
		Questions: []llm.Question{
			{Task: llm.TaskRoute, Options: []llm.Option{{ID: "a", Label: `"monday"`}, {ID: "b", Otherwise: true}}},
			{Task: llm.TaskExtract, Fields: []llm.Field{{Name: "n", Type: llm.FieldInteger}, {Name: "s", Type: llm.FieldString}}},
			{Task: llm.TaskJudge, Schema: json.RawMessage(`{"type":"boolean"}`)},
		},
		Failing: map[llm.Class]agentstest.Failing{
			llm.ClassUnsupported: {
				Request:  llm.ReplyRequest{Instructions: dentist},
				Question: llm.Question{Task: llm.TaskFix, Instructions: "Make it better."},
			},
		},
	})
}

// reply returns the stand-in's reply to a dialogue whose texts alternate, starting with the agent's.
func reply(t *testing.T, task string, texts ...string) (agentstest.Replied, error) {
	t.Helper()
	r := llm.ReplyRequest{Instructions: task, CanEnd: true, CanTransfer: true}
	for i, text := range texts {
		r.Messages = append(r.Messages, llm.Message{Role: [2]llm.Role{llm.RoleAgent, llm.RoleCaller}[i%2], Text: text})
	}
	return agentstest.Collect(t.Context(), scripted.New(), r)
}

func TestRules(t *testing.T) {
	t.Parallel()
	const ask, part = "Good morning. Monday or Tuesday?", "In the morning or in the afternoon?"
	for name, c := range map[string]struct {
		task   string
		said   []string
		want   string
		action llm.Action
		expect string
	}{
		"start":            {good, nil, ask, "", "[monday tuesday human]"},
		"rule":             {good, []string{ask, "Hmm, on TUESDAY, please."}, part, "", "[morning afternoon monday tuesday human]"},
		"after":            {good, []string{part, "the afternoon"}, "That is noted. Goodbye.", llm.ActionEnd, "[]"},
		"after first":      {good, []string{part, "monday afternoon"}, "That is noted. Goodbye.", llm.ActionEnd, "[]"},
		"not after":        {good, []string{ask, "the afternoon"}, "Monday or Tuesday?", "", "[monday tuesday human]"},
		"part of a word":   {good, []string{ask, "mondays"}, "Monday or Tuesday?", "", "[monday tuesday human]"},
		"transfer":         {good, []string{ask, "a human!"}, "One moment, please.", llm.ActionTransfer, "[]"},
		"first rule wins":  {good, []string{ask, "a human on monday"}, part, "", "[morning afternoon monday tuesday human]"},
		"second miss":      {good, []string{ask, "what", "Monday or Tuesday?", "who"}, "Monday or Tuesday?", "", "[monday tuesday human]"},
		"third miss":       {good, []string{ask, "what", "M?", "who", "M?", "why"}, "I am sorry, I can't help with that. Goodbye.", llm.ActionEnd, "[]"},
		"hit between":      {good, []string{ask, "what", "M?", "monday", "M?", "why"}, "Monday or Tuesday?", "", "[monday tuesday human]"},
		"no otherwise":     {`when "a": say "b"`, []string{"Yes?", "c"}, "Sorry, I did not understand that.", "", "[a]"},
		"no otherwise, 2":  {`when "a": say "b"`, []string{"Yes?", "c", "?", "d"}, "I am sorry, I can't help with that. Goodbye.", llm.ActionEnd, "[]"},
		"only a task":      {"Call them.", []string{"Hello.", "Tell her I am late."}, "Thank you. I have noted that. Goodbye.", llm.ActionEnd, "[]"},
		"only a task, 1st": {"Call them.", nil, "Hello, this is an automated assistant. What would you like me to note?", "", "[]"},
		"prose":            {"When the caller answers, greet.\nStart: politely.", []string{"Yes?", "c"}, "Thank you. I have noted that. Goodbye.", llm.ActionEnd, "[]"},
		"apostrophes":      {`when "don't know": say "Fine."`, []string{"Yes?", "I don’t know"}, "Fine.", "", "[don't know]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := reply(t, c.task, c.said...)
			if err != nil || got.Text != c.want || got.Action != c.action || fmt.Sprint(got.Expect) != c.expect {
				t.Errorf("got %q %q %v, error %v; want %q %q %s", got.Text, got.Action, got.Expect, err, c.want, c.action, c.expect)
			}
		})
	}
}

func TestGreetedFirst(t *testing.T) {
	t.Parallel()
	got, err := agentstest.Collect(t.Context(), scripted.New(), llm.ReplyRequest{
		Instructions: good, Messages: []llm.Message{{Role: llm.RoleCaller, Text: "Hello, who is there?"}},
	})
	if err != nil || got.Text != "Good morning. Monday or Tuesday?" {
		t.Errorf("got %q, error %v", got.Text, err)
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]llm.ReplyRequest{
		"no colon":                        {Instructions: `when "a" say "b"`},
		"no answer":                       {Instructions: `when "a":`},
		"empty answer":                    {Instructions: `when "a": say ""`},
		"only marks":                      {Instructions: `when "?!": say "b"`},
		"unknown action":                  {Instructions: `start: say "b" and dance`},
		"blank answer":                    {Instructions: `start: say " "`},
		"open quote":                      {Instructions: `otherwise: say "b`},
		"its own turn":                    {Instructions: "x", Messages: []llm.Message{{Role: llm.RoleAgent, Text: "Hello."}}},
		"nobody to reach":                 {Instructions: `start: say "a" and transfer`},
		"may not end":                     {Instructions: `start: say "a" and end`},
		"no words":                        {Instructions: "Ask for the day.", Arriving: true},
		"no words there":                  {Instructions: "start: politely\nAsk for the day. \"Monday\" is best."},
		"a caller who has nothing to say": {Task: llm.TaskCaller, Instructions: `when "a": say "b"`},
		"a caller's own turn":             {Task: llm.TaskCaller, Messages: []llm.Message{{Role: llm.RoleCaller, Text: "Hello."}}},
		"a caller who may not hang up":    {Task: llm.TaskCaller, Messages: []llm.Message{{Role: llm.RoleAgent, Text: "Hello."}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := agentstest.Collect(t.Context(), scripted.New(), r)
			if llm.ClassOf(err) != llm.ClassUnsupported || err == nil || got.Text != "" {
				t.Errorf("got %q, error %v", got.Text, err)
			}
		})
	}
}

func FuzzReply(f *testing.F) {
	f.Add(good, "monday")
	f.Add(dentist, "human")
	f.Add(`when "a" or "b" after "c": say "d" and end`, "b")
	f.Add("otherwise:say\"x\".\n•start : SAY „y“", "")
	f.Fuzz(func(t *testing.T, task, words string) {
		got, err := reply(t, task, "c", words)
		again, errAgain := reply(t, task, "c", words)
		if fmt.Sprint(got, err) != fmt.Sprint(again, errAgain) {
			t.Errorf("first %v %v, then %v %v", got, err, again, errAgain)
		}
		switch {
		case err != nil && llm.ClassOf(err) != llm.ClassUnsupported:
			t.Errorf("error %v", err)
		case err == nil && strings.TrimSpace(got.Text) == "":
			t.Errorf("says nothing: %q", got.Text)
		case err == nil && got.Action == llm.ActionTransfer && !strings.Contains(strings.ToLower(task), "transfer"):
			t.Error("transfers of its own")
		}
	})
}

func ExampleModel() {
	task := `Find a day for the appointment.
start: say "Monday or Tuesday?"
when "monday" or "tuesday": say "Noted. Goodbye." and end
otherwise: say "Sorry, Monday or Tuesday?"`
	model := scripted.New()
	var messages []llm.Message
	for _, caller := range []string{"", "What?", "Tuesday is fine."} {
		if caller != "" {
			messages = append(messages, llm.Message{Role: llm.RoleCaller, Text: caller})
			fmt.Println("caller:", caller)
		}
		for part, err := range model.Reply(context.Background(), llm.ReplyRequest{Instructions: task, CanEnd: true, Messages: messages}) {
			if err != nil {
				fmt.Println(err)
				return
			}
			if part.Text != "" {
				messages = append(messages, llm.Message{Role: llm.RoleAgent, Text: part.Text})
				fmt.Println("agent:", part.Text)
			}
			if part.Action != "" {
				fmt.Println("action:", part.Action)
			}
		}
	}
	// Output:
	// agent: Monday or Tuesday?
	// caller: What?
	// agent: Sorry, Monday or Tuesday?
	// caller: Tuesday is fine.
	// agent: Noted. Goodbye.
	// action: end
}

// TestUnfollowed checks that Unfollowed explains the syntax for a task without rules or with invalid ones, and returns nothing for valid
// rules.
func TestUnfollowed(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"":                             "a free task is not followed",
		"Ask whether the parcel came.": "a free task is not followed",
		`Ask "Did the parcel come?"`:   "a free task is not followed",
		"when \"yes\" say":             "line 1 of the task is not a valid rule",
		"Be kind.\nwhen \"yes\": say \"Thank you.\" and end": "",
		`start: say "Hello."`:                                "",
		`otherwise: say "Pardon?"`:                           "",
	} {
		got := llm.Unfollowed(scripted.New(), "", task)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", task, got, want)
		}
		if strings.Contains(want, "free task") && (!strings.Contains(got, `when "yes": say "Thank you. Goodbye." and end`) || !strings.Contains(got, "pathway")) {
			t.Errorf("%q: %q offers nothing that works", task, got)
		}
	}
}
