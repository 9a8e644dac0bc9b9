package llm_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

var days = llm.Question{
	Instructions: "Find the day.",
	Messages:     []llm.Message{{Role: llm.RoleAgent, Text: "Which day?"}, {Role: llm.RoleCaller, Text: "Monday."}},
	Options:      []llm.Option{{ID: "z", Label: "a day"}, {ID: `"a"`, Label: "no day"}, {ID: "o", Otherwise: true}},
}

func TestChoose(t *testing.T) {
	t.Parallel()
	m := answering("z", `{"reason":"\u0000They said\u200b so.","option":"z"}`)
	got, usage, err := llm.Choose(t.Context(), m, days)
	if err != nil || got != (llm.Choice{Option: "z", Reason: "They said so."}) || usage != (llm.Usage{Input: 6, Output: 2}) {
		t.Errorf("got %+v, %v, %v", got, usage, err)
	}
	q := m.Questions()[0]
	const want = `{"type":"object","properties":{"reason":{"type":"string"},"option":{"type":"string","enum":["z","\"a\"","o"]}},` +
		`"required":["reason","option"],"additionalProperties":false}`
	if string(q.Schema) != want || q.Task != llm.TaskRoute || !strings.HasPrefix(q.Instructions, "Find the day.\n\nChoose ") {
		t.Errorf("the question is %s %q with the schema\n%s", q.Task, q.Instructions, q.Schema)
	}
	label := days
	label.Task, label.Instructions = llm.TaskLabel, " "
	if _, _, err := llm.Choose(t.Context(), m, label); err != nil {
		t.Error(err)
	}
	if q := m.Questions()[2]; q.Task != llm.TaskLabel || !strings.HasPrefix(q.Instructions, "Choose ") {
		t.Errorf("the question is %s %q", q.Task, q.Instructions)
	}
}

func TestChooseRefuses(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		`{"reason":"x","option":"y"}`, `{"reason":"x","option":"Z"}`, `{"option":"z"}`, `{"reason":"x"}`, `{"reason":1,"option":"z"}`,
		`{"reason":"x","option":["z"]}`, `{"reason":"x","option":"z","option":"o"}`, `{"reason":"x","option":"z","sure":true}`, `"z"`, `null`,
		`{"reason":"x","option":"z"} {"reason":"x","option":"o"}`,
	} {
		m := answering(answer)
		if got, _, err := llm.Choose(t.Context(), m, days); err == nil || llm.ClassOf(err) != llm.ClassInvalid || len(m.Questions()) != 3 {
			t.Errorf("%s: got %v, %v after %d questions", answer, got, err, len(m.Questions()))
		}
	}
	for _, options := range [][]llm.Option{nil, {{ID: "a"}, {ID: "a"}}, {{ID: ""}}} {
		m := answering(`{"reason":"x","option":"a"}`)
		if _, _, err := llm.Choose(t.Context(), m, llm.Question{Options: options}); llm.ClassOf(err) != llm.ClassPermanent || len(m.Questions()) > 0 {
			t.Errorf("%v: %v", options, err)
		}
	}
}

func TestExtract(t *testing.T) {
	t.Parallel()
	q := llm.Question{Fields: []llm.Field{
		{Name: "zone", Type: llm.FieldString}, {Name: "guests", Type: llm.FieldInteger}, {Name: "price", Type: llm.FieldNumber}, {Name: "sure", Type: llm.FieldBoolean},
	}}
	for answer, want := range map[string]string{
		`{"zone":null,"guests":null,"price":null,"sure":null}`:                      "map[]",
		`{"zone":" Rome\u202e\u0000 ","guests":4,"price":2,"sure":false}`:           "map[guests:int64 4 price:float64 2 sure:bool false zone:string Rome]",
		`{"zone":" ","guests":-4.0,"price":2.5,"sure":true}`:                        "map[guests:int64 -4 price:float64 2.5 sure:bool true]",
		`{"zone":"4","guests":1e3,"price":-1e-2,"sure":null}`:                       "map[guests:int64 1000 price:float64 -0.01 zone:string 4]",
		`{"zone":null,"guests":9223372036854775807,"price":null,"sure":null}`:       "map[guests:int64 9223372036854775807]",
		`{"zone":null,"guests":9223372036854775808,"price":null,"sure":null}`:       "invalid",
		`{"zone":null,"guests":1e300,"price":null,"sure":null}`:                     "invalid",
		`{"zone":null,"guests":null,"price":1e999,"sure":null}`:                     "invalid",
		`{"zone":null,"guests":4.5,"price":null,"sure":null}`:                       "invalid",
		`{"zone":4,"guests":null,"price":null,"sure":null}`:                         "invalid",
		`{"zone":null,"guests":"4","price":null,"sure":null}`:                       "invalid",
		`{"zone":null,"guests":null,"price":null,"sure":"yes"}`:                     "invalid",
		`{"zone":null,"guests":null,"price":null,"sure":1}`:                         "invalid",
		`{"zone":null,"guests":null,"price":null}`:                                  "invalid",
		`{"zone":null,"guests":null,"price":null,"sure":null,"card":"4111"}`:        "invalid",
		`{"zone":["Rome"],"guests":null,"price":null,"sure":null}`:                  "invalid",
		`[{"zone":null,"guests":null,"price":null,"sure":null}]`:                    "invalid",
		"```json\n{\"zone\":null,\"guests\":1,\"price\":null,\"sure\":null}\n```\n": "map[guests:int64 1]",
	} {
		m := answering(answer)
		found, _, err := llm.Extract(t.Context(), m, q)
		got := map[string]string{}
		for name, v := range found {
			got[name] = fmt.Sprintf("%T %v", v, v)
		}
		if err != nil {
			if want != string(llm.ClassOf(err)) || found != nil {
				t.Errorf("%s: got %v, %v", answer, found, err)
			}
		} else if fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %s", answer, got, want)
		}
		const schema = `{"type":"object","properties":{"zone":{"type":["string","null"]},"guests":{"type":["integer","null"]},` +
			`"price":{"type":["number","null"]},"sure":{"type":["boolean","null"]}},"required":["zone","guests","price","sure"],"additionalProperties":false}`
		if s := string(m.Questions()[0].Schema); s != schema || m.Questions()[0].Task != llm.TaskExtract {
			t.Errorf("the schema is %s", s)
		}
	}
}

// TestExtractForgetsAWrongAnswer checks that the values of a refused answer do not appear in the result of the next answer.
func TestExtractForgetsAWrongAnswer(t *testing.T) {
	t.Parallel()
	m := answering(`{"a":"x","b":"y"}`, `{"a":null,"b":3}`)
	q := llm.Question{Fields: []llm.Field{{Name: "a", Type: llm.FieldString}, {Name: "b", Type: llm.FieldInteger}}}
	found, _, err := llm.Extract(t.Context(), m, q)
	if err != nil || len(found) != 1 || found["b"] != int64(3) {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestExtractRefuses(t *testing.T) {
	t.Parallel()
	for _, fields := range [][]llm.Field{
		{{Name: "a", Type: "date"}}, {{Name: "a"}}, {{Type: llm.FieldString}}, {{Name: "a", Type: llm.FieldString}, {Name: "a", Type: llm.FieldNumber}},
	} {
		m := answering(`{"a":null}`)
		if _, _, err := llm.Extract(t.Context(), m, llm.Question{Fields: fields}); llm.ClassOf(err) != llm.ClassPermanent || len(m.Questions()) > 0 {
			t.Errorf("%v: %v", fields, err)
		}
	}
	m := answering("?")
	if found, _, err := llm.Extract(t.Context(), m, llm.Question{}); err != nil || found == nil || len(m.Questions()) > 0 {
		t.Errorf("no fields: %v, %v", found, err)
	}
}

func ExampleChoose() {
	model := &agentstest.Model{Answers: func(context.Context, llm.Question) (string, error) {
		return `{"reason":"The caller names a weekday.","option":"book"}`, nil
	}}
	choice, _, err := llm.Choose(context.Background(), model, llm.Question{
		Messages: []llm.Message{{Role: llm.RoleAgent, Text: "When?"}, {Role: llm.RoleCaller, Text: "Tuesday."}},
		Options:  []llm.Option{{ID: "book", Label: "a day is given"}, {ID: "ask", Otherwise: true}},
	})
	fmt.Println(choice.Option, err)
	// Output: book <nil>
}
