package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/request"
)

// TestStepsOfArguments checks that arguments that are expensive to validate are refused, and that ordinary arguments cost few steps.
func TestStepsOfArguments(t *testing.T) {
	t.Parallel()
	patterns := make([]string, 40)
	for i := range patterns {
		patterns[i] = fmt.Sprintf(`{"pattern": "%s%d"}`, strings.Repeat("(a|b)*", 80), i)
	}
	enum := `[` + strings.TrimSuffix(strings.Repeat("1e300,", 5000), ",") + `]`
	texts := `["` + strings.Repeat("ab", 6000) + `"]`
	numbers := `[` + strings.TrimSuffix(strings.Repeat("2,", 2000), ",") + `]`
	const refused = "the arguments are too long to be checked against the schema in this turn"
	for name, test := range map[string]struct{ items, list, want string }{
		"long patterns":  {`{"anyOf": [` + strings.Join(patterns, ",") + `]}`, texts, refused},
		"long enums":     {`{"enum": ` + enum + `}`, numbers, refused},
		"usual patterns": {`{"type": "string", "pattern": "^[a-z]+$"}`, texts, ""},
		"usual enums":    {`{"enum": [1, 2, 3]}`, numbers, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t, minimal("x", `, "input_schema": {"properties": {"list": {"type": "array", "items": `+test.items+`}}}`))
			client := &agentstest.Requests{}
			wanted := call("x", `{"list": `+test.list+`}`)
			got := s.Call(t.Context(), client, "org", wanted, nil)
			if got.Log.Error != test.want || (test.want == "") != (len(client.Made()) == 1) {
				t.Errorf("got %.200q, sent %d", got.Log.Error, len(client.Made()))
			}
			if test.want != "" && !json.Valid([]byte(got.Text)) {
				t.Errorf("the model is told %s", got.Text)
			}
		})
	}
}

// TestStepsOfCalls checks that the calls and the speeches of a turn share its budget.
func TestStepsOfCalls(t *testing.T) {
	t.Parallel()
	s := set(t, minimal("x", `, "speech": "Well.", "input_schema": {"properties": {"day": {"type": "string", "pattern": "^[0-9-]+$"}}}`))
	wanted := call("x", `{"day": "2026-05-04"}`)
	ctx := request.WithBudget(t.Context())
	if got := s.Call(ctx, &agentstest.Requests{}, "org", wanted, nil); got.Log.Error != "" || !request.Spend(ctx, request.MaxSteps*0.999) {
		t.Errorf("a usual call costs much, %q", got.Log.Error)
	}
	for request.Spend(ctx, 1) {
	}
	client := &agentstest.Requests{}
	if got := s.Call(ctx, client, "org", wanted, nil); got.Log.Error == "" || len(client.Made()) > 0 || s.Speech(ctx, wanted, nil) != "" {
		t.Errorf("after the budget is spent, it sent %d", len(client.Made()))
	}
}
