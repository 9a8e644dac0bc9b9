package assert_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/callwright/callwright/agenttest/assert"
)

const (
	passed = assert.Passed
	failed = assert.Failed
	broken = assert.Error
)

func TestRegexMatch(t *testing.T) {
	t.Parallel()
	huge := said(agent(strings.Repeat("a", assert.MaxTarget)))
	empties := said(agent(""), caller("x"), agent(""))
	evaluate(t, assert.RegexMatch, []evaluation{
		{name: "matches", config: `{"pattern":"pizza"}`, outcome: passed, turn: 0},
		{name: "case counts", config: `{"pattern":"PIZZA"}`, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "flag i", config: `{"pattern":"PIZZA","flags":"i"}`, outcome: passed, turn: 0},
		{name: "flag i holds for all branches", config: `{"pattern":"nothing|PIZZA","flags":"i"}`, outcome: passed, turn: 0},
		{name: "no flag m", config: `{"pattern":"^b"}`, e: said(agent("a\nb")), outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "flag m", config: `{"pattern":"^b","flags":"m"}`, e: said(agent("a\nb")), outcome: passed, turn: 0},
		{name: "no flag s", config: `{"pattern":"a.b"}`, e: said(agent("a\nb")), outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "flag s", config: `{"pattern":"a.b","flags":"s"}`, e: said(agent("a\nb")), outcome: passed, turn: 0},
		{name: "of the caller", config: `{"pattern":"(?i)pizza","role":"user"}`, outcome: passed, turn: 1},
		{name: "of the agent", config: `{"pattern":"Street","role":"assistant"}`, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "in one turn", config: `{"pattern":"Street","turn":3}`, outcome: passed, turn: 3},
		{name: "not in the turn", config: `{"pattern":"Street","turn":2}`, outcome: failed, code: assert.CodeNoMatch, turn: 2, node: "ask"},
		{name: "a turn that is not there", config: `{"pattern":"Street","turn":5}`, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "a turn of the other side", config: `{"pattern":"Street","turn":3,"role":"assistant"}`, outcome: failed, code: assert.CodeNoMatch, turn: 3, node: "ask"},
		{name: "not across turns", config: `{"pattern":"(?s)shop.*Two"}`, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "each turn begins anew", config: `{"pattern":"^What"}`, outcome: passed, turn: 2},
		{name: "enough", config: `{"pattern":"pizzas?","min_matches":2}`, outcome: passed, turn: 1},
		{name: "enough in one turn", config: `{"pattern":"a","min_matches":3}`, e: said(agent("a a"), agent("banana")), outcome: passed, turn: 1},
		{name: "too few", config: `{"pattern":"pizzas?","min_matches":3}`, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "forbidden", config: `{"pattern":"[0-9]+\\.[0-9]+","negate":true}`, outcome: failed, code: assert.CodeForbidden, turn: 4, node: "pay"},
		{name: "nothing forbidden", config: `{"pattern":"refund","negate":true}`, outcome: passed, turn: none},
		{name: "forbidden twice, said once", config: `{"pattern":"Street","negate":true,"min_matches":2}`, outcome: passed, turn: 3},
		{name: "empty matches", config: `{"pattern":"y*","min_matches":4}`, e: empties, outcome: passed, turn: 2},
		{name: "nothing was said", config: `{"pattern":"y*"}`, e: said(), outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "nothing was said, none forbidden", config: `{"pattern":"y*","negate":true}`, e: said(), outcome: passed, turn: none},
		{name: "variable", config: `{"pattern":"^L","target":"variable","variable":"size"}`, outcome: passed, turn: none},
		{name: "a number as text", config: `{"pattern":"^23\\.5$","target":"variable","variable":"price"}`, outcome: passed, turn: none},
		{name: "an object as JSON", config: `{"pattern":"\"id\":\"A<1>\"","target":"variable","variable":"order"}`, outcome: passed, turn: none},
		{name: "a part of an object", config: `{"pattern":"^A<1>$","target":"variable","variable":"order.id"}`, outcome: passed, turn: none},
		{name: "variable without match", config: `{"pattern":"^x","target":"variable","variable":"count"}`, outcome: failed, code: assert.CodeNoMatch, turn: none, node: "ask"},
		{name: "forbidden variable", config: `{"pattern":"2","negate":true,"target":"variable","variable":"count"}`, outcome: failed, code: assert.CodeForbidden, turn: none, node: "ask"},
		{name: "variable missing", config: `{"pattern":"x","target":"variable","variable":"address"}`, outcome: failed, code: assert.CodeVariableMissing, turn: none, node: "ask"},
		{name: "variable missing, negated", config: `{"pattern":"x","negate":true,"target":"variable","variable":"nope"}`, outcome: failed, code: assert.CodeVariableMissing, turn: none},
		{name: "null is missing", config: `{"pattern":".*","target":"variable","variable":"nothing"}`, outcome: failed, code: assert.CodeVariableMissing, turn: none},
		{name: "too much", config: `{"pattern":"b"}`, e: huge, outcome: broken, code: assert.CodeTooLarge, turn: none},
		{name: "as much as allowed", config: `{"pattern":"b"}`, e: said(agent(strings.Repeat("a", assert.MaxTarget-1))), outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "the agent alone is not too much", config: `{"pattern":"b","role":"user"}`, e: huge, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "too much work", config: `{"pattern":"(.*a){500}b"}`, e: said(agent(strings.Repeat("a", assert.MaxTarget-1))), outcome: broken, code: assert.CodeTooLarge, turn: none},
		{name: "too much work for a variable", config: `{"pattern":"(.*a){500}b","target":"variable","variable":"v"}`,
			e: &assert.Evidence{Variables: map[string]any{"v": strings.Repeat("a", assert.MaxTarget)}}, outcome: broken, code: assert.CodeTooLarge, turn: none},
		{name: "too large a variable", config: `{"pattern":"b","target":"variable","variable":"v"}`,
			e: &assert.Evidence{Variables: map[string]any{"v": strings.Repeat("a", assert.MaxTarget+1)}}, outcome: broken, code: assert.CodeTooLarge, turn: none},
	})
}

func TestRegexMatchShowsMatches(t *testing.T) {
	t.Parallel()
	r := compile(t, assert.RegexMatch, `{"pattern":"(\\d+) (Main)?( )?","min_matches":1}`).Evaluate(t.Context(), order(), nil)
	got := encode(t, r.Actual)
	if want := `[{"turn":3,"text":"12 Main ","groups":["12","Main"," "]}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	long := strings.Repeat("a ", 200)
	r = compile(t, assert.RegexMatch, `{"pattern":"a","min_matches":100}`).Evaluate(t.Context(), said(agent(long)), nil)
	if m := r.Actual.([]assert.Match); len(m) != 10 || *m[0].Turn != 0 {
		t.Errorf("shows %d matches", len(m))
	}
	r = compile(t, assert.RegexMatch, `{"pattern":"(?s).*"}`).Evaluate(t.Context(), said(agent(strings.Repeat("é", 5000))), nil)
	if m := r.Actual.([]assert.Match); len(m[0].Text) > 200 {
		t.Errorf("shows %d bytes", len(m[0].Text))
	}
	r = compile(t, assert.RegexMatch, `{"pattern":"a","target":"variable","variable":"v"}`).Evaluate(t.Context(),
		&assert.Evidence{Variables: map[string]any{"v": "a"}}, nil)
	if got := encode(t, r.Actual); got != `[{"text":"a"}]` {
		t.Errorf("in a variable: %s", got)
	}
}

func TestStringCheck(t *testing.T) {
	t.Parallel()
	accents := said(agent("Cafe\u0301 STRASSE \u212aelvin  \t\nfin"))
	evaluate(t, assert.StringCheck, []evaluation{
		{name: "contains", config: `{"value":"ADDRESS"}`, outcome: passed, turn: 2},
		{name: "contains, case counts", config: `{"value":"ADDRESS","case_sensitive":true}`, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "contains, of the caller", config: `{"value":"address","role":"user"}`, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "never across turns", config: `{"value":"shop.Two"}`, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "not_contains", config: `{"value":"refund","operator":"not_contains"}`, outcome: passed, turn: none},
		{name: "not_contains, said", config: `{"value":"goodbye","operator":"not_contains"}`, outcome: failed, code: assert.CodeForbidden, turn: 4, node: "pay"},
		{name: "equals one turn", config: `{"value":"12 main street","operator":"equals"}`, outcome: passed, turn: 3},
		{name: "equals no turn", config: `{"value":"12 main","operator":"equals"}`, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "not_equals", config: `{"value":"12 main","operator":"not_equals"}`, outcome: passed, turn: none},
		{name: "not_equals, said", config: `{"value":"12 Main Street","operator":"not_equals"}`, outcome: failed, code: assert.CodeForbidden, turn: 3, node: "ask"},
		{name: "starts_with", config: `{"value":"what is","operator":"starts_with"}`, outcome: passed, turn: 2},
		{name: "starts_with no turn", config: `{"value":"is your","operator":"starts_with"}`, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "ends_with", config: `{"value":"goodbye.","operator":"ends_with"}`, outcome: passed, turn: 4},
		{name: "ends_with no turn", config: `{"value":"goodbye","operator":"ends_with"}`, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "composed and decomposed", config: `{"value":"caf\u00e9"}`, e: accents, outcome: passed, turn: 0},
		{name: "composed, case counts", config: `{"value":"Caf\u00e9","case_sensitive":true}`, e: accents, outcome: passed, turn: 0},
		{name: "no part of a character", config: `{"value":"cafe"}`, e: accents, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "the kelvin sign folds", config: `{"value":"KELVIN"}`, e: accents, outcome: passed, turn: 0},
		{name: "simple folding keeps lengths", config: `{"value":"straße"}`, e: accents, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "Greek sigmas", config: `{"value":"ΟΔΟΣ"}`, e: said(agent("οδος, οδοσ")), outcome: passed, turn: 0},
		{name: "white space counts", config: `{"value":"kelvin fin"}`, e: accents, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "folded white space", config: `{"value":"kelvin   fin","fold_whitespace":true}`, e: accents, outcome: passed, turn: 0},
		{name: "folded white space, ASCII", config: `{"value":"a \n b","operator":"equals","fold_whitespace":true}`, e: said(agent("A\t\v b")), outcome: passed, turn: 0},
		{name: "equals an empty turn", config: `{"value":"","operator":"equals"}`, e: said(agent("a"), caller("")), outcome: passed, turn: 1},
		{name: "nothing was said", config: `{"value":"a"}`, e: said(), outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "nothing was said, none forbidden", config: `{"value":"a","operator":"not_equals"}`, e: said(), outcome: passed, turn: none},
		{name: "words that are no UTF-8", config: `{"value":"ok"}`, e: said(agent("\xff\xfeOK")), outcome: passed, turn: 0},
		{name: "variable", config: `{"value":"large","operator":"equals","target":"variable","variable":"size"}`, outcome: passed, turn: none},
		{name: "a number as text", config: `{"value":"2","operator":"equals","target":"variable","variable":"count"}`, outcome: passed, turn: none},
		{name: "a boolean as text", config: `{"value":"true","operator":"equals","target":"variable","variable":"paid"}`, outcome: passed, turn: none},
		{name: "variable differs", config: `{"value":"3","operator":"ends_with","target":"variable","variable":"count"}`, outcome: failed, code: assert.CodeNoMatch, turn: none, node: "ask"},
		{name: "variable must not", config: `{"value":"2","operator":"not_equals","target":"variable","variable":"count"}`, outcome: failed, code: assert.CodeForbidden, turn: none, node: "ask"},
		{name: "variable does not", config: `{"value":"3","operator":"not_equals","target":"variable","variable":"count"}`, outcome: passed, turn: none},
		{name: "variable missing", config: `{"value":"3","operator":"not_equals","target":"variable","variable":"address"}`, outcome: failed, code: assert.CodeVariableMissing, turn: none, node: "ask"},
		{name: "null is missing", config: `{"value":"","operator":"equals","target":"variable","variable":"nothing"}`, outcome: failed, code: assert.CodeVariableMissing, turn: none},
		{name: "not JSON", config: `{"value":"a","target":"variable","variable":"v"}`,
			e: &assert.Evidence{Variables: map[string]any{"v": []any{"\u2028"}}}, outcome: failed, code: assert.CodeNoMatch, turn: none},
		{name: "too much", config: `{"value":"a"}`, e: said(agent(strings.Repeat("b", 600_000)), caller(strings.Repeat("b", 600_000))), outcome: broken, code: assert.CodeTooLarge, turn: none},
	})
}

// TestOddVariables checks that variables that JSON cannot encode lead to an outcome, without a panic or an endless loop.
func TestOddVariables(t *testing.T) {
	t.Parallel()
	cycle := map[string]any{}
	cycle["self"] = cycle
	for name, v := range map[string]any{"NaN": math.NaN(), "Inf": math.Inf(1), "channel": make(chan int), "function": func() {}, "cycle": cycle, "nested": []any{math.NaN()}} {
		e := &assert.Evidence{Variables: map[string]any{"v": v}}
		for kind, config := range map[assert.Type]string{
			assert.StringCheck: `{"value":"zz","target":"variable","variable":"v"}`, assert.RegexMatch: `{"pattern":"zz","target":"variable","variable":"v"}`,
			assert.VariableExtracted: `{"variable":"v","operator":"equals","value":1}`,
		} {
			r := compile(t, kind, config).Evaluate(t.Context(), e, nil)
			if encode(t, r); r.Outcome != failed && r.Outcome != broken {
				t.Errorf("%s, %s: %+v", name, kind, r)
			}
		}
		r := compile(t, assert.VariableExtracted, `{"variable":"v"}`).Evaluate(t.Context(), e, nil)
		if encode(t, r); r.Outcome != passed {
			t.Errorf("%s exists: %+v", name, r)
		}
	}
}

func TestVariableExtracted(t *testing.T) {
	t.Parallel()
	big := &assert.Evidence{Variables: map[string]any{
		"id": int64(9007199254740993), "float": 9007199254740992.0, "max": int64(math.MaxInt64), "min": int64(math.MinInt64), "edge": 9223372036854775808.0, "int": 5, "number": json.Number("5.0"),
	}}
	long := &assert.Evidence{Variables: map[string]any{"v": strings.Repeat("a", assert.MaxTarget+1)}}
	missing := evaluation{outcome: failed, code: assert.CodeVariableMissing, turn: none}
	no := evaluation{outcome: failed, code: assert.CodeNoMatch, turn: none}
	yes := evaluation{outcome: passed, turn: none}
	with := func(c evaluation, name, config, node string, e *assert.Evidence) evaluation {
		c.name, c.config, c.node, c.e = name, config, node, e
		return c
	}
	config := func(variable, operator, rest string) string {
		return `{"variable":"` + variable + `","operator":"` + operator + `"` + rest + `}`
	}
	evaluate(t, assert.VariableExtracted, []evaluation{
		with(yes, "exists", `{"variable":"count"}`, "", nil),
		with(yes, "false exists", config("paid", "exists", ""), "", nil),
		with(yes, "dotted", `{"variable":"order.id"}`, "", nil),
		with(missing, "absent", `{"variable":"address"}`, "ask", nil),
		with(missing, "null", `{"variable":"nothing"}`, "", nil),
		with(missing, "absent part", `{"variable":"order.name"}`, "ask", nil),
		with(missing, "no object", `{"variable":"size.x"}`, "", nil),
		with(missing, "no variables", `{"variable":"v"}`, "", said()),
		with(yes, "5 equals 5.0", config("count", "equals", `,"value":2.0`), "", nil),
		with(yes, "float", config("price", "equals", `,"value":23.50`), "", nil),
		with(no, "another number", config("count", "equals", `,"value":3`), "ask", nil),
		with(yes, "boolean", config("paid", "equals", `,"value":true`), "", nil),
		with(no, "another boolean", config("paid", "equals", `,"value":false`), "", nil),
		with(no, "a boolean is no text", config("paid", "equals", `,"value":"true"`), "", nil),
		with(yes, "a boolean as text, loose", config("paid", "equals", `,"value":"True","loose":true`), "", nil),
		with(yes, "text", config("size", "equals", `,"value":"lARGE"`), "", nil),
		with(no, "text, case counts", config("size", "equals", `,"value":"lARGE","case_sensitive":true`), "", nil),
		with(no, "a text is no number", config("digits", "equals", `,"value":5`), "", nil),
		with(no, "a number is no text", config("count", "equals", `,"value":"2"`), "ask", nil),
		with(yes, "a text as number, loose", config("digits", "equals", `,"value":5.0,"loose":true`), "", nil),
		with(yes, "a number as text, loose", config("count", "equals", `,"value":" 2.00 ","loose":true`), "", nil),
		with(no, "no number in the text, loose", config("size", "equals", `,"value":5,"loose":true`), "", nil),
		with(no, "hexadecimal is no number, loose", config("count", "equals", `,"value":"0x2","loose":true`), "ask", nil),
		with(no, "an empty text is no number, loose", config("count", "equals", `,"value":"","loose":true`), "ask", nil),
		with(no, "an object is no text", config("order", "equals", `,"value":"{}","loose":true`), "ask", nil),
		with(yes, "one_of", config("count", "one_of", `,"values":[1,"x",2]`), "", nil),
		with(no, "none of", config("count", "one_of", `,"values":[1,"2",true]`), "ask", nil),
		with(yes, "one_of, loose", config("count", "one_of", `,"values":[1,"2"],"loose":true`), "", nil),
		with(yes, "contains", config("size", "contains", `,"value":"ARG"`), "", nil),
		with(yes, "contains a number", config("price", "contains", `,"value":3.5`), "", nil),
		with(yes, "a list contains", config("order.items", "contains", `,"value":"pizza"`), "", nil),
		with(no, "does not contain", config("size", "contains", `,"value":"ARG","case_sensitive":true`), "", nil),
		with(yes, "regex", config("size", "regex", `,"value":"^LAR"`), "", nil),
		with(no, "regex, case counts", config("size", "regex", `,"value":"^LAR","case_sensitive":true`), "", nil),
		with(missing, "regex, absent", config("address", "regex", `,"value":".*"`), "ask", nil),
		with(no, "digits of large integers count", config("id", "equals", `,"value":9007199254740992`), "", big),
		with(yes, "a large integer", config("id", "equals", `,"value":9007199254740993`), "", big),
		with(no, "a float is not the next integer", config("float", "equals", `,"value":9007199254740993`), "", big),
		with(yes, "a float is its integer", config("float", "equals", `,"value":9007199254740992`), "", big),
		with(no, "beyond int64", config("max", "equals", `,"value":9223372036854775808`), "", big),
		with(no, "the least int64 is not the number beyond the largest", config("min", "equals", `,"value":9223372036854775808`), "", big),
		with(yes, "beyond int64 as float", config("edge", "equals", `,"value":9223372036854775808`), "", big),
		with(yes, "a Go int", config("int", "equals", `,"value":5`), "", big),
		with(yes, "a json.Number", config("number", "equals", `,"value":5`), "", big),
		{name: "too large", config: config("v", "equals", `,"value":"a"`), e: long, outcome: broken, code: assert.CodeTooLarge, turn: none},
		with(yes, "large, but there", `{"variable":"v"}`, "", long),
	})
}
