package scripted_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

func caller(text string) []llm.Message {
	return []llm.Message{{Role: llm.RoleCaller, Text: "tuesday"}, {Role: llm.RoleAgent, Text: "Which day?"}, {Role: llm.RoleCaller, Text: text}}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	known := map[string]any{"day": "Tuesday", "n": 5.0, "empty": "", "caller": map[string]any{"name": "Ada"}, "ja/nein": true}
	option := func(label string) llm.Option { return llm.Option{ID: "x", Label: label} }
	otherwise := llm.Option{ID: "o", Label: "none of the others", Otherwise: true}
	tests := map[string]struct {
		said    string
		options []llm.Option
		want    string // empty if the question is unsupported
	}{
		"said":                        {"On Monday, please.", []llm.Option{option(`"monday" or "friday"`), otherwise}, "x"},
		"not said":                    {"No.", []llm.Option{option(`the caller says "monday"`), otherwise}, "o"},
		"said before":                 {"No.", []llm.Option{option(`"tuesday"`), otherwise}, "o"},
		"said by the agent":           {"No.", []llm.Option{option(`"which day"`), otherwise}, "o"},
		"digits":                      {"(pressed 5)", []llm.Option{option(`"5"`), otherwise}, "x"},
		"in the description":          {"monday", []llm.Option{{ID: "x", Label: "a day", Description: `“Monday”`}, otherwise}, "x"},
		"not in the description":      {"no", []llm.Option{{ID: "x", Label: "a day", Description: `"monday"`}, otherwise}, "o"},
		"the first that fits":         {"monday", []llm.Option{{ID: "g", Label: `"monday"`}, option(`"monday"`), otherwise}, "g"},
		"known":                       {"", []llm.Option{option("day is known"), otherwise}, "x"},
		"not known":                   {"", []llm.Option{option("day is not known"), otherwise}, "o"},
		"unknown":                     {"", []llm.Option{option("time is known."), otherwise}, "o"},
		"empty is unknown":            {"", []llm.Option{option("empty is not known"), otherwise}, "x"},
		"is":                          {"", []llm.Option{option(`day is "tuesday"`), otherwise}, "x"},
		"is not":                      {"", []llm.Option{option(`day is not "Tuesday"`), otherwise}, "o"},
		"is one of":                   {"", []llm.Option{{ID: "w", Label: `Day is "x"`}, option(`day is "monday" or "tuesday"`), otherwise}, "x"},
		"is a number":                 {"", []llm.Option{option(`n is "5"`), otherwise}, "x"},
		"is inside":                   {"", []llm.Option{option(`caller.name is "Ada"`), otherwise}, "x"},
		"is and is":                   {"", []llm.Option{option(`day is known and n is "5"`), otherwise}, "x"},
		"is and is not":               {"", []llm.Option{option(`day is known and time is known`), otherwise}, "o"},
		"prose":                       {"monday", []llm.Option{option("the caller names a day"), otherwise}, ""},
		"prose beside what fits":      {"monday", []llm.Option{option("the caller is angry"), {ID: "y", Label: `"monday"`}, otherwise}, "y"},
		"otherwise that is written":   {"no", []llm.Option{option("the caller is angry"), {ID: "y", Label: "Otherwise."}, otherwise}, "y"},
		"otherwise alone":             {"no", []llm.Option{{ID: "x", Label: "otherwise"}}, "x"},
		"nothing fits":                {"no", []llm.Option{option(`"monday"`)}, ""},
		"a condition that is met":     {"monday", []llm.Option{{ID: "x", Label: `"monday"`, Condition: "day is known"}, otherwise}, "x"},
		"a condition that is not met": {"monday", []llm.Option{{ID: "x", Label: `"monday"`, Condition: "time is known"}, otherwise}, "o"},
		"a condition in prose":        {"monday", []llm.Option{{ID: "x", Label: `"monday"`, Condition: "the caller is calm"}, otherwise}, ""},
		"prose, condition not met":    {"monday", []llm.Option{{ID: "x", Label: "a day", Condition: "time is known"}, otherwise}, "o"},
		"quoted marks are no phrase":  {"no", []llm.Option{option(`"..."`), otherwise}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := llm.Choose(t.Context(), scripted.New(), llm.Question{Messages: caller(tt.said), Variables: known, Options: tt.options})
			if got.Option != tt.want || (err == nil) != (tt.want != "") || err != nil && llm.ClassOf(err) != llm.ClassUnsupported {
				t.Errorf("chose %+v, error %v", got, err)
			}
		})
	}
}

func TestExtract(t *testing.T) {
	t.Parallel()
	tests := []struct {
		field llm.Field
		said  map[string]any // the caller's words with the extracted values; nil if no value is found
	}{
		{llm.Field{Name: "guests", Type: llm.FieldInteger}, map[string]any{
			"We are 4.": int64(4), "twenty-one": int64(21), "A hundred, please": int64(100), "one hundred": int64(100), "(pressed 5)": int64(5),
			"ninety nine": int64(99), "-3": int64(-3), "at 10:30": nil, "two or three": nil, "two, yes, 2": int64(2), "many": nil, "2.5": nil, "room B2": nil,
			"on the 21st": nil, "99999999999999999999": nil, "twenty, zero": nil,
			"one moment": nil, "just one question": nil, "that one": nil, "the first one, for two": int64(2), "just one": int64(1),
		}},
		{llm.Field{Name: "price", Type: llm.FieldNumber}, map[string]any{"$2.50!": 2.5, "fifteen": 15.0, "3": 3.0, "1.2.3": nil, "": nil}},
		{llm.Field{Name: "sure", Type: llm.FieldBoolean}, map[string]any{
			"Yes, please.": true, "That's right": true, "of course": true, "No.": false, "nope, thanks": false, "I'm not sure": nil, "yes and no": nil,
			"I don't know": nil, "Monday": nil,
		}},
		{llm.Field{Name: "day", Type: llm.FieldString, Description: `the weekday, "Tuesday" or "Thursday"`}, map[string]any{
			"TUESDAY is fine": "Tuesday", "thursday": "Thursday", "Monday": nil, "Tuesday or Thursday": nil,
		}},
		{llm.Field{Name: "when", Type: llm.FieldString, Description: `"morning", "tomorrow morning"`}, map[string]any{"tomorrow morning": "tomorrow morning", "in the morning": "morning"}},
		{llm.Field{Name: "weekday", Type: llm.FieldString}, map[string]any{"on friday": "Friday", "tomorrow": "tomorrow", "the day after tomorrow": "the day after tomorrow", "soon": nil}},
		{llm.Field{Name: "date", Type: llm.FieldString}, map[string]any{
			"2026-11-24, a Tuesday": "2026-11-24", "November 24th": "November 24", "on the 3rd of may 2027": "2027-05-03", "May the 40th": nil, "March 5, 2027": "2027-03-05", "the fifth": nil,
		}},
		{llm.Field{Name: "time", Type: llm.FieldString, Description: "time of day"}, map[string]any{
			"at 10:30": "10:30", "3 pm": "15:00", "12 a.m. then": "00:00", "12 pm": "12:00", "nine": nil, "9 o'clock": "09:00", "in the afternoon": "afternoon", "25:00": nil, "10:75": nil, "10 people": nil,
		}},
		{llm.Field{Name: "contactEmail", Type: llm.FieldString}, map[string]any{"It is ada.l+x@mail.example.com.": "ada.l+x@mail.example.com", "ada at example": nil}},
		{llm.Field{Name: "mobile_number", Type: llm.FieldString}, map[string]any{"call +1 (202) 555-0102 please": "+12025550102", "202.555.0102": "2025550102", "12345": nil, "two oh two, double five five, zero one double nine": "2025550199", "one two three": nil}},
		{llm.Field{Name: "callback", Type: llm.FieldString, Description: "the telephone number of the caller, 10 digits"}, map[string]any{
			"(202) 555-0102": "2025550102", "two oh two, double five five, zero one double nine": "2025550199", "202 555 010": "202555010",
			"202 5, no wait, 202 555 0102": "2025550102", "I have two questions": nil, "hello": nil,
		}},
		{llm.Field{Name: "code", Type: llm.FieldString, Description: "two digits"}, map[string]any{"four two": "42", "four": nil, "123": "123"}},
		{llm.Field{Name: "name", Type: llm.FieldString, Description: "full name"}, map[string]any{"I am Ada": nil}},
	}
	for _, tt := range tests {
		for said, want := range tt.said {
			found, _, err := llm.Extract(t.Context(), scripted.New(), llm.Question{Messages: caller(said), Fields: []llm.Field{tt.field}})
			if err != nil || found[tt.field.Name] != want || len(found) > 1 {
				t.Errorf("%s in %q: found %#v, error %v, want %#v", tt.field.Name, said, found, err, want)
			}
		}
	}
}

func TestRuleTables(t *testing.T) {
	t.Parallel()
	m := scripted.New(
		scripted.Rule{Task: llm.TaskJudge, About: "polite", Said: "shut up", Answer: `{"pass":false}`},
		scripted.Rule{Task: llm.TaskJudge, About: "polite", Answer: `{"pass":true}`},
		scripted.Rule{Task: llm.TaskRoute, Said: "human", Answer: `{"reason":"asked","option":"h"}`},
	)
	ask := func(task llm.Task, criterion, said string) string {
		evidence, err := json.Marshal(map[string]string{"criterion": criterion})
		if err != nil {
			t.Fatal(err)
		}
		a, err := m.Answer(t.Context(), llm.Question{Task: task, Evidence: evidence, Messages: caller(said)})
		if err != nil {
			return string(llm.ClassOf(err))
		}
		return string(a.JSON)
	}
	for _, tt := range [][4]string{
		{"judge", "is polite", "Shut up!", `{"pass":false}`}, {"judge", "is polite", "Thanks.", `{"pass":true}`}, {"judge", "is short", "Thanks.", "unsupported"},
		{"fix", "is polite", "Thanks.", "unsupported"}, {"label", "is polite", "Thanks.", "unsupported"}, {"analyze", "polite", "x", "unsupported"},
		{"route", "", "a human", `{"reason":"asked","option":"h"}`}, {"route", "", "nobody", "unsupported"},
	} {
		if got := ask(llm.Task(tt[0]), tt[1], tt[2]); got != tt[3] {
			t.Errorf("%v: got %s", tt, got)
		}
	}
}

// TestNodes checks the stand-in's words at the nodes of a pathway, where it may not end the conversation.
func TestNodes(t *testing.T) {
	t.Parallel()
	day := caller("human")
	tests := map[string]struct {
		r    llm.ReplyRequest
		want string // empty if the request is unsupported
	}{
		"arriving":            {llm.ReplyRequest{Instructions: "Be kind.\n\nAsk \"Which day?\" If they say \"monday\", write it down.", Arriving: true, Messages: day[:2]}, "Which day?"},
		"several sentences":   {llm.ReplyRequest{Instructions: "- Greet with “Good morning.” and then ask \"Monday\" or \"Tuesday\"; say nothing else.", Arriving: true}, "Good morning. Monday Tuesday"},
		"staying":             {llm.ReplyRequest{Instructions: `Ask "Which day?"`, Messages: day}, "Which day?"},
		"the last paragraph":  {llm.ReplyRequest{Instructions: "Say \"please\".\n\nAsk the caller: \"Which day?\"\n\nBe kind.", Arriving: true}, "Which day?"},
		"words of a caller":   {llm.ReplyRequest{Instructions: `If they say "monday", go on.`, Arriving: true}, ""},
		"always":              {llm.ReplyRequest{Instructions: `Always say "please".`, Arriving: true}, ""},
		"start":               {llm.ReplyRequest{Instructions: "start: say \"Hi.\"\nAsk \"Which day?\"", Arriving: true, Messages: day}, "Hi."},
		"rules without start": {llm.ReplyRequest{Instructions: "when \"human\": say \"No.\"\nAsk \"Which day?\"", Arriving: true, Messages: day}, "Which day?"},
		"rules, staying":      {llm.ReplyRequest{Instructions: "when \"human\": say \"No.\"\nAsk \"Which day?\"", Messages: day}, "No."},
		"otherwise for ever":  {llm.ReplyRequest{Instructions: `otherwise: say "Well?"`, Messages: slices.Concat(day, day, day, day)}, "Well?"},
		"unclear for ever":    {llm.ReplyRequest{Instructions: `when "x": say "y"`, Messages: slices.Concat(day, day, day, day)}, "Sorry, I did not understand that."},
		"knowledge":           {llm.ReplyRequest{Instructions: `Ask "Which day?"`, Knowledge: []string{"We open at nine.", "b"}, Arriving: true}, "We open at nine."},
		"knowledge, rules":    {llm.ReplyRequest{Instructions: `when "human": say "No."`, Knowledge: []string{"a"}, Messages: day}, "No."},
		"an empty quotation":  {llm.ReplyRequest{Instructions: `Say " ".`, Arriving: true}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := agentstest.Collect(t.Context(), scripted.New(), tt.r)
			if got.Text != tt.want || got.Action != "" || (err == nil) != (tt.want != "") || err != nil && llm.ClassOf(err) != llm.ClassUnsupported {
				t.Errorf("says %+v, error %v", got, err)
			}
		})
	}
}

// TestCaller checks that a simulated caller follows rule lines, with the roles reversed, and hangs up when it has no answer.
func TestCaller(t *testing.T) {
	t.Parallel()
	const script = "start: say \"Hello?\"\nwhen \"which day\" or \"what day\": say \"Monday.\"\nwhen \"goodbye\": say \"Bye.\" and end\notherwise: say \"Pardon?\""
	mumble := []string{"Hello.", "Hm.", "a", "Pardon?", "b", "Pardon?", "c"}
	for name, tt := range map[string]struct {
		script string
		said   []string // alternately the agent's and the caller's words, the agent's first
		want   string
		action llm.Action
	}{
		"first":          {script, nil, "Hello?", ""},
		"answers first":  {script, []string{"Which day?"}, "Hello?", ""},
		"no start":       {strings.Replace(script, "start", "Start with nothing; start", 1), []string{"Which day?"}, "Monday.", ""},
		"rule":           {script, []string{"Hello.", "Hello?", "What day, please?"}, "Monday.", ""},
		"end":            {script, []string{"Hello.", "Hello?", "Goodbye."}, "Bye.", llm.ActionEnd},
		"otherwise":      {script, []string{"Hello.", "Hello?", "Hm."}, "Pardon?", ""},
		"at a loss":      {script, mumble, "", llm.ActionEnd},
		"nothing to say": {`when "x": say "y"`, []string{"Hello."}, "", llm.ActionEnd},
		"after its own":  {`when "yes" after "monday": say "Good."` + "\nwhen \"yes\": say \"Bad.\"", []string{"Day?", "Monday?", "Yes."}, "Good.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := llm.ReplyRequest{Task: llm.TaskCaller, Instructions: tt.script, CanEnd: true}
			for i, text := range tt.said {
				r.Messages = append(r.Messages, llm.Message{Role: [2]llm.Role{llm.RoleAgent, llm.RoleCaller}[i%2], Text: text})
			}
			got, err := agentstest.Collect(t.Context(), scripted.New(), r)
			if err != nil || got.Text != tt.want || got.Action != tt.action {
				t.Errorf("says %+v, error %v", got, err)
			}
		})
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	got := scripted.New().Hints(llm.ReplyRequest{Instructions: "when \"human\" or \"monday\": say \"x\""}, []llm.Option{
		{ID: "way 1", Label: `the caller asks "how much"`, Description: `or "what does it cost"`, Condition: "day is known"},
		{ID: "way 2", Label: `day is "Monday" or "monday"`},
		{ID: "variable weekday"},
	})
	const want = "[human monday how much what does it cost Monday Tuesday Wednesday Thursday Friday Saturday Sunday]"
	if fmt.Sprint(got) != want {
		t.Errorf("hints %v", got)
	}
	if got := scripted.New().Hints(llm.ReplyRequest{Instructions: `when "a" say`}, nil); got != nil {
		t.Errorf("hints %v of rules that can't be read", got)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("We are 4, on May 5 at 10:30", `day is known and n is "5"`, "phone or e-mail")
	f.Add("twenty", "a \"b\" or “c” is", "\"x\" or \"x y\"")
	f.Fuzz(func(t *testing.T, said, label, description string) {
		m := scripted.New()
		q := llm.Question{Messages: caller(said), Variables: map[string]any{"day": said}, Options: []llm.Option{{ID: "x", Label: label, Description: description}, {ID: "o", Otherwise: true}}}
		first, _, err := llm.Choose(t.Context(), m, q)
		if again, _, _ := llm.Choose(t.Context(), m, q); first != again || err != nil && llm.ClassOf(err) != llm.ClassUnsupported {
			t.Errorf("chose %v, then %v, error %v", first, again, err)
		}
		var fields []llm.Field
		for i, kind := range []llm.FieldType{llm.FieldString, llm.FieldInteger, llm.FieldNumber, llm.FieldBoolean} {
			fields = append(fields, llm.Field{Name: fmt.Sprint("f", i), Type: kind, Description: description})
		}
		found, _, err := llm.Extract(t.Context(), m, llm.Question{Messages: caller(said), Fields: fields})
		again, _, _ := llm.Extract(t.Context(), m, llm.Question{Messages: caller(said), Fields: fields})
		if err != nil || fmt.Sprint(found) != fmt.Sprint(again) {
			t.Errorf("found %v, then %v, error %v", found, again, err)
		}
	})
}
