package scripted_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/llm"
)

// TestCompare checks the comparisons of variables that docs/pathways.md describes, with "otherwise" beside them.
func TestCompare(t *testing.T) {
	t.Parallel()
	variables := map[string]any{
		"wants": true, "refuses": false, "day": "Tuesday", "answer": "Yes", "guests": int64(4), "price": 4.5, "pin": "0123", "spoken": "seven", "empty": "",
	}
	for label, want := range map[string]bool{
		"wants is true": true, "wants is yes": true, `wants is "yes"`: true, `wants is "true"`: true, "Wants is true": false, "wants is TRUE.": true,
		"wants is false": false, "wants is no": false, `wants is "no"`: false, "wants is not true": false, "wants is not false": true, "wants is not no": true,
		"refuses is false": true, "refuses is no": true, `refuses is "false"`: true, "refuses is yes": false, "refuses is known": true,
		`day equals "tuesday"`: true, `day is "Thursday" or "Tuesday"`: true, `day is not "Thursday"`: true, `day is not "Thursday" or "Tuesday"`: false,
		"answer is yes": true, "answer is true": true, "answer is no": false, "guests is 4": true, "guests is 4.0": true, `guests is "4"`: true, "guests is 5": false,
		"guests equals 4": true, "guests is not 5": true, "guests is 3 or 4": true, "guests is at least 4": true, "guests is at most 3": false,
		"guests is more than 3": true, "guests is less than 4": false, "guests is not less than 4": true, "price is more than 4": true, "price is -4.5": false,
		`pin is "123"`: false, `pin is "0123"`: true, "spoken is at least 1": false, "spoken is not at least 1": false,
		"nothing is true": false, "nothing is not true": false, `nothing is not "x"`: false, "nothing is not known": true, "empty is not yes": false,
		"wants is true and guests is at least 4": true, "wants is yes and day is not known": false,
	} {
		got, _, err := llm.Choose(t.Context(), scripted.New(), llm.Question{
			Messages: caller("yes please"), Variables: variables, Options: []llm.Option{{ID: "x", Label: label}, {ID: "o", Label: "otherwise"}},
		})
		if err != nil || (got.Option == "x") != want {
			t.Errorf("%s: %v, error %v; want %v", label, got, err, want)
		}
	}
}

// TestComparedValuesAreNoHints checks that a recognizer is not told values that the caller need not say.
func TestComparedValuesAreNoHints(t *testing.T) {
	t.Parallel()
	got := scripted.New().Hints(llm.ReplyRequest{}, []llm.Option{
		{ID: "way 1", Label: `wants is "true"`}, {ID: "way 2", Label: `day is "Friday" and wants is "false"`, Condition: `status is "booked"`},
		{ID: "way 3", Label: `the caller asks "how much"`, Description: `wants is "no"`},
	})
	if strings.Join(got, ", ") != "how much" {
		t.Errorf("hints %q", got)
	}
}

func TestUnchosen(t *testing.T) {
	t.Parallel()
	fields := []llm.Field{{Name: "wants", Type: llm.FieldBoolean}, {Name: "guests", Type: llm.FieldInteger}, {Name: "day", Type: llm.FieldString}}
	for _, tt := range []struct {
		option llm.Option
		want   string // a part of the text
	}{
		{llm.Option{Label: "wants is true"}, ""},
		{llm.Option{Label: "wants is yes or no"}, ""},
		{llm.Option{Label: `wants is "maybe"`}, "compare it with true or false"},
		{llm.Option{Label: "wants is 1"}, "compare it with true or false"},
		{llm.Option{Label: "wants is known"}, ""},
		{llm.Option{Label: "guests is at least 4"}, ""},
		{llm.Option{Label: `guests is "many"`}, "compare it with a number"},
		{llm.Option{Label: `day is "many"`}, ""},
		{llm.Option{Label: "other is 5"}, ""},
		{llm.Option{Label: "wants == true"}, "quote what the caller says"},
		{llm.Option{Label: "day is Tuesday"}, "quote what the caller says"},
		{llm.Option{Label: "the caller agrees"}, `"the caller agrees" never applies`},
		{llm.Option{Label: "the caller agrees", Description: `"yes"`}, ""},
		{llm.Option{Label: `"yes"`, Condition: "the caller is calm"}, `"the caller is calm" never applies`},
		{llm.Option{Label: "Otherwise."}, ""},
		{llm.Option{Label: "none of the others", Otherwise: true}, ""},
	} {
		for _, m := range []llm.Model{scripted.New(), llm.Selection{Default: scripted.New()}} {
			got := llm.Unchosen(m, "", tt.option, fields)
			if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("%+v: %q", tt.option, got)
			}
		}
	}
}
