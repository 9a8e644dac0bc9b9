package request_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/ohler55/ojg/jp"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/request"
)

// mapped returns a source that maps the same path to n variables: x0, x1, and so on.
func mapped(path string, n int) request.Source {
	var s request.Source
	for i := range n {
		s.Variables = append(s.Variables, request.Mapping{Name: fmt.Sprint("x", i), Path: path})
	}
	return s
}

// list returns a JSON array of n equal items.
func list(item string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

// TestStepsOfPaths checks that expensive paths are stopped and named in the log. A short path is still evaluated.
func TestStepsOfPaths(t *testing.T) {
	t.Parallel()
	word := `"` + strings.Repeat("ab", 1<<12) + `"`
	for name, test := range map[string]struct {
		path, answer string
		fit          int // how many of the 31 paths fit into the budget
	}{
		"filters below everything":    {`$..[?(@.a=="b")]`, list("{}", 40_000), 3},
		"filters of filters":          {`$[?(@[?(@[?(@.a)])])]`, list("[[0]]", 2000), 11},
		"combinations of values":      {`$[?(@.*==1 && @.*==2)]`, "[" + list("0", 1000) + "]", 0},
		"combinations within filters": {`$[?(@[?(@.*==1 && @.*==2)])]`, "[[" + list("0", 400) + "]]", 0},
		"values and other paths":      {`$[?(@.*==1 && @.a =~ /a*b*c/)]`, `[{"a":` + word + `,"b":` + list("0", 50) + `}]`, 25},
		"values with every path":      {`$[?(@.b[*]==1 && @.a =~ /a*b*c/)]`, `[{"a":` + word + `,"b":` + list("0", 10_000) + `}]`, 0},
		"expressions":                 {`$[?(@ =~ /` + strings.Repeat("(a|b)*", 60) + `c/)]`, list(word, 8), 2},
		"texts that are joined":       {`$[?(` + strings.Repeat("@+", 100) + `@ == 'x')]`, list(word, 2), 1},
		"everything":                  {`$..`, list("0", 100_000), 19},
		"unions":                      {`$[*][0,0,0,0,0]`, list("[0]", 20_000), 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mapped(test.path, 31)
			s.Variables = append(s.Variables, request.Mapping{Name: "short", Path: "$[0]"})
			log := parse(t, s).Do(t.Context(), &agentstest.Requests{Answer: agentstest.JSON(test.answer)}, "org", "n", nil)
			dear := strings.Count(log.Error, ": the path needs too many steps in this answer")
			if fit := 31 - dear; fit != test.fit {
				t.Errorf("%d fit, want %d: %.200s", fit, test.fit, log.Error)
			}
			if strings.Contains(log.Error, "short: the path") {
				t.Errorf("the short path is given up: %s", log.Error[len(log.Error)-80:])
			}
		})
	}
}

// TestStepsOfUsualAnswers checks that paths on ordinary responses spend at most the given share of a turn's budget.
func TestStepsOfUsualAnswers(t *testing.T) {
	t.Parallel()
	item := `{"id": 7, "name": "Ada Lovelace", "tags": ["a", "b"], "address": {"city": "London", "zip": "NW1"}, "active": true}`
	for path, most := range map[string]float64{
		"$[0].address.city": 0.02, "$[*].name": 0.1, "$..city": 0.2, "$[?(@.active == true)].id": 0.4,
		"$[?(@.name =~ /^Ada/)].id": 0.8, "$[?(@.tags[*] == 'b')].id": 1,
	} {
		ctx := request.WithBudget(t.Context())
		log := parse(t, mapped(path, 8)).Do(ctx, &agentstest.Requests{Answer: agentstest.JSON(list(item, 200))}, "org", "n", nil)
		left := (1 - most) * request.MaxSteps
		if log.Error != "" || len(log.Variables) != 8 || !request.Spend(ctx, left) {
			t.Errorf("%s: %d variables, %s; it costs more than %v of the budget", path, len(log.Variables), log.Error, most)
		}
	}
}

// TestStepsOfAnswers checks that a turn reads long responses only within its budget, and short ones always.
func TestStepsOfAnswers(t *testing.T) {
	t.Parallel()
	ctx := request.WithBudget(t.Context())
	long, short := list(`{"a":1}`, 100_000), `{"a":1}`
	do := func(answer, path string) request.Log {
		return parse(t, mapped(path, 1)).Do(ctx, &agentstest.Requests{Answer: agentstest.JSON(answer)}, "org", "n", nil)
	}
	read := 0
	for range 8 {
		if log := do(long, "$[0].a"); log.Error == "" {
			read++
		} else if log.Error != "the answer is not read: it has too many values for the rest of this turn" || len(log.Body) == 0 {
			t.Fatalf("got %q, %.20s", log.Error, log.Body)
		}
	}
	if read != 2 {
		t.Errorf("%d long answers are read", read)
	}
	if log := do(short, "$.a"); log.Error != "" || log.Variables["x0"] != int64(1) {
		t.Errorf("a short answer gave %+v", log)
	}
	if log := parse(t, mapped("$[0].a", 1)).Do(request.WithBudget(t.Context()), &agentstest.Requests{Answer: agentstest.JSON(long)}, "org", "n", nil); log.Error != "" {
		t.Errorf("another turn got %q", log.Error)
	}
	if request.WithBudget(ctx) != ctx {
		t.Error("a context got a second budget")
	}
}

// TestFollowsAsTheLibrary checks that paths find the values that the jp library finds, in the same order. Objects have one member, because
// the library visits several members in any order.
func TestFollowsAsTheLibrary(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var value func(depth int) any
	value = func(depth int) any {
		switch n := random.IntN(7); {
		case n == 0 || depth == 0:
			return []any{nil, true, int64(random.IntN(3)), 1.5, "a", "b", ""}[random.IntN(7)]
		case n < 3:
			return map[string]any{[]string{"a", "b"}[random.IntN(2)]: value(depth - 1)}
		default:
			items := make([]any, random.IntN(4))
			for i := range items {
				items[i] = value(depth - 1)
			}
			return items
		}
	}
	paths := []string{
		"$", "$.a", "$[0]", "$[-1]", "$[-9]", "$.*", "$[*]", "$[*].a", "$.*.*", "$..a", "$..[0]", "$..*", "$..", "$..[*].a",
		"$[0,1]", "$['a','b']", "$['a',0,-1]", "$[0,0].a", "$[1:]", "$[::-1]", "$[::2].a", "$[1:3][0]", "$..[1:]", "$..['a','b']", "$..[::-1][*]",
		"$[?(@.a)]", "$[?@.a]", "$[?(@.a == 1)].a", "$[?(@ == 1)]", "$[?(@ > 0)]", "$[?(@[0] == 1 || @.a == 'b')]", "$..[?(@.a)]",
		"$..[?(@.a)].a", "$..[?(@ =~ /a/)]", "$[?(!(@.a))]", "$[?(@.* == 1)]", "$[?(@..a)]", "$[?(@[?(@.a)])]", "$[?(count(@.*) > 1)]",
		"$[?(@.a in [1,'a'])]", "$[?(true)]", "$[?(@)]", "$[?(length(@) == 2)][0]", "$[?(@.a == null)]", "$[?(@.a exists true)]", "$[*][?(@.b)]",
	}
	for range 300 {
		answer := value(4)
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			log := parse(t, mapped(path, 1)).Do(t.Context(), &agentstest.Requests{Answer: agentstest.JSON(string(text))}, "org", "n", nil)
			found, failed := library(path, answer)
			if failed {
				continue
			}
			var want any = found
			switch len(found) {
			case 0:
				want = nil
			case 1:
				want = found[0]
			}
			if got := log.Variables["x0"]; log.Error != "" || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s in %s gave %v, want %v; %s", path, text, got, want, log.Error)
			}
		}
	}
}

// library returns the values that the jp library finds. failed reports a panic, which filters of null cause.
func library(path string, answer any) (found []any, failed bool) {
	defer func() { failed = recover() != nil }()
	return jp.MustParseString(path).Get(answer), false
}

// counted is a JSON value that counts how often it is encoded.
type counted struct{ times *int }

func (c counted) MarshalJSON() ([]byte, error) { *c.times++; return []byte("1"), nil }

// TestEncodesOnce checks that a list that many texts of a request contain is encoded only once.
func TestEncodesOnce(t *testing.T) {
	t.Parallel()
	s := request.Source{URL: "https://example.com/"}
	for i := range 32 {
		s.Headers = append(s.Headers, request.Pair{Name: fmt.Sprint("X-", i), Value: "{{a}}{{a}}"})
		s.Query = append(s.Query, request.Pair{Name: fmt.Sprint("q", i), Value: "{{a}}"})
	}
	times := 0
	client := &agentstest.Requests{}
	log := parse(t, s).Do(context.Background(), client, "org", "n", map[string]any{"a": []any{counted{&times}}})
	if log.Error != "" || times != 1 || client.Made()[0].Header[31].Value != "[1][1]" {
		t.Errorf("it is encoded %d times, %s", times, log.Error)
	}
}

// TestHugeNumbers checks that a number beyond all numeric types is kept as text and a tiny number becomes 0, without expanding the
// exponent.
func TestHugeNumbers(t *testing.T) {
	t.Parallel()
	digits := strings.Repeat("9", 20_000)
	for answer, want := range map[string]any{"[1e999999999]": "1e999999999", "[" + digits + "]": digits, "[1e-999999999]": 0.0} {
		log := parse(t, mapped("$[0]", 1)).Do(t.Context(), &agentstest.Requests{Answer: agentstest.JSON(answer)}, "org", "n", nil)
		if log.Error != "" || log.Variables["x0"] != want {
			t.Errorf("%.20s gave %.20v, %s", answer, log.Variables["x0"], log.Error)
		}
	}
}
