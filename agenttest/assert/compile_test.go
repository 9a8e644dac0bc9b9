package assert_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/assert"
)

// refusals returns the messages of an error by field.
func refusals(t testing.TB, err error) map[string]string {
	t.Helper()
	all, ok := errors.AsType[callwright.FieldErrors](err)
	if !ok {
		t.Fatalf("the error is %T: %v", err, err)
	}
	out := map[string]string{}
	for _, e := range all {
		if e.Code != callwright.CodeBadRequest || e.Message == "" {
			t.Errorf("error %+v", e)
		}
		out[e.Field] = e.Message
	}
	return out
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 20_000)
	many := func(n int) string { return `["` + strings.Join(slices.Repeat([]string{"n"}, n), `","`) + `"]` }
	for _, c := range []struct {
		kind   assert.Type
		config string
		fields string // all invalid fields, in order
		says   string // part of the first message
	}{
		{"NOPE", `{}`, "type", "REGEX_MATCH"},
		{"regex_match", `{"pattern":"a"}`, "type", "capital"},
		{"", `{}`, "type", ""},
		{assert.RegexMatch, `[]`, "config", "object"},
		{assert.RegexMatch, `null`, "config", "object"},
		{assert.RegexMatch, `{"pattern":"a"`, "config", "object"},
		{assert.RegexMatch, `{"pattern":"a"} {}`, "config", "object"},
		{assert.RegexMatch, `{"pattern":"a",}`, "config", "object"},
		{assert.RegexMatch, "{\"pattern\":\"\xff\"}", "config", "UTF-8"},
		{assert.RegexMatch, `{"pattern":"a\u0000"}`, "config", "NUL"},
		{assert.WebhookTriggered, `{"request_body":{"a":[{"\u0000":1}]}}`, "config", "NUL"},
		{assert.RegexMatch, `{"pattern":"` + strings.Repeat(long, 20) + `"}`, "config", "bytes"},
		{assert.RegexMatch, `{"pattern":"a","pattern":"b"}`, "config.pattern", "once"},
		{assert.RegexMatch, `{"pattern":"a","Pattern":"b","x":1}`, "config.Pattern config.x", "unknown"},
		{assert.RegexMatch, `{}`, "config.pattern", "required"},
		{assert.RegexMatch, ``, "config.pattern", "required"},
		{assert.RegexMatch, `{"pattern":null}`, "config.pattern", "not null"},
		{assert.RegexMatch, `{"pattern":3}`, "config.pattern", "a string, not a number"},
		{assert.RegexMatch, `{"pattern":""}`, "config.pattern", "empty"},
		{assert.RegexMatch, `{"pattern":"(a"}`, "config.pattern", "missing closing )"},
		{assert.RegexMatch, `{"pattern":"(?=a)"}`, "config.pattern", "invalid or unsupported Perl syntax: `(?=`"},
		{assert.RegexMatch, `{"pattern":"(a)\\1"}`, "config.pattern", "invalid escape sequence: `\\1`"},
		{assert.RegexMatch, `{"pattern":"a{1001}"}`, "config.pattern", "invalid repeat count"},
		{assert.RegexMatch, `{"pattern":"` + strings.Repeat("é", 501) + `"}`, "config.pattern", "1000 bytes"},
		{assert.RegexMatch, `{"pattern":"` + long + `"}`, "config.pattern", "1000 characters"},
		{assert.RegexMatch, `{"pattern":"a","flags":"ix"}`, "config.flags", "i, m and s"},
		{assert.RegexMatch, `{"pattern":"a","flags":"imsi"}`, "config.flags", "3"},
		{assert.RegexMatch, `{"pattern":"a","target":"agent"}`, "config.target", "transcript, variable"},
		{assert.RegexMatch, `{"pattern":"a","target":"variable"}`, "config.variable", "required"},
		{assert.RegexMatch, `{"pattern":"a","variable":"v"}`, "config.variable", "only"},
		{assert.RegexMatch, `{"pattern":"a","target":"variable","variable":"v","role":"user","turn":1}`, "config.role config.turn", "only"},
		{assert.RegexMatch, `{"pattern":"a","role":"caller"}`, "config.role", "user, assistant"},
		{assert.RegexMatch, `{"pattern":"a","turn":-1}`, "config.turn", "from 0 to 200"},
		{assert.RegexMatch, `{"pattern":"a","turn":1.5}`, "config.turn", "integer"},
		{assert.RegexMatch, `{"pattern":"a","turn":1e999}`, "config.turn", "from 0 to 200"},
		{assert.RegexMatch, `{"pattern":"(","min_matches":0,"negate":"yes","z":1}`, "config.pattern config.min_matches config.negate config.z", ""},
		{assert.StringCheck, `{}`, "config.value", "required"},
		{assert.StringCheck, `{"value":""}`, "config.value", "empty"},
		{assert.StringCheck, `{"value":"` + long + `","operator":"is","case_sensitive":1,"fold_whitespace":0,"turn":1}`,
			"config.value config.operator config.case_sensitive config.fold_whitespace config.turn", "4096"},
		{assert.VariableExtracted, `{}`, "config.variable", "required"},
		{assert.VariableExtracted, `{"variable":""}`, "config.variable", "empty"},
		{assert.VariableExtracted, `{"variable":"v","value":1}`, "config.value", "operator"},
		{assert.VariableExtracted, `{"variable":"v","operator":"equals"}`, "config.value", "required"},
		{assert.VariableExtracted, `{"variable":"v","operator":"equals","value":null}`, "config.value", "not null"},
		{assert.VariableExtracted, `{"variable":"v","operator":"equals","value":[]}`, "config.value", "not an array"},
		{assert.VariableExtracted, `{"variable":"v","operator":"equals","value":1e999}`, "config.value", "64-bit"},
		{assert.VariableExtracted, `{"variable":"v","operator":"equals","values":[1],"value":1}`, "config.values", "one_of"},
		{assert.VariableExtracted, `{"variable":"v","operator":"one_of","value":1}`, "config.values config.value", "required"},
		{assert.VariableExtracted, `{"variable":"v","operator":"one_of","values":[]}`, "config.values", "at least 1 item"},
		{assert.VariableExtracted, `{"variable":"v","operator":"one_of","values":[1,{},null]}`, "config.values[1] config.values[2]", "not an object"},
		{assert.VariableExtracted, `{"variable":"v","operator":"one_of","values":` + many(51) + `}`, "config.values", "at most 50"},
		{assert.VariableExtracted, `{"variable":"v","operator":"regex","value":"("}`, "config.value", "missing closing )"},
		{assert.VariableExtracted, `{"variable":"v","operator":"regex","value":1}`, "config.value", "string"},
		{assert.VariableExtracted, `{"variable":"v","operator":"contains","value":""}`, "config.value", "empty"},
		{assert.NodeReached, `{}`, "config.node_id", "required"},
		{assert.NodeReached, `{"node_id":"` + long + `"}`, "config.node_id", "128"},
		{assert.NodesVisited, `{"node_ids":[]}`, "config.node_ids", "at least 1"},
		{assert.NodesVisited, `{"node_ids":["a",1,""]}`, "config.node_ids[1] config.node_ids[2]", "not a number"},
		{assert.NodesVisited, `{"node_ids":` + many(101) + `}`, "config.node_ids", "at most 100"},
		{assert.NodesVisited, `{"node_ids":"a","match":"AND"}`, "config.node_ids config.match", "array"},
		{assert.NodesVisited, `{"node_ids":["a"],"match":"any","in_order":true}`, "config.in_order", "all"},
		{assert.NodesVisited, `{"node_ids":["a"],"forbidden":["b","a"]}`, "config.forbidden[1]", "node_ids"},
		{assert.TraversalMatch, `{}`, "config.reference_path", "required"},
		{assert.TraversalMatch, `{"reference_path":` + many(513) + `}`, "config.reference_path", "512"},
		{assert.TraversalMatch, `{"reference_path":["a"],"mode":"lcs","threshold":1.1,"collapse_repeats":null}`,
			"config.mode config.threshold config.collapse_repeats", "similarity"},
		{assert.TraversalMatch, `{"reference_path":["a"],"mode":"exact","threshold":0.5}`, "config.threshold", "similarity"},
		{assert.WebhookTriggered, `{}`, "config", "must have at least one of"},
		{assert.WebhookTriggered, `{"before_node":"a"}`, "config", "must have at least one of"},
		{assert.WebhookTriggered, `{"url":"u","url_match":"regex","method":"post"}`, "config.url_match config.method", ""},
		{assert.WebhookTriggered, `{"url":"u","min_count":2,"max_count":1}`, "config.min_count", "max_count"},
		{assert.WebhookTriggered, `{"url":"u","min_count":0}`, "config.min_count", "max_count"},
		{assert.WebhookTriggered, `{"url":"u","max_count":101}`, "config.max_count", "100"},
		{assert.WebhookTriggered, `{"request_body":[]}`, "config.request_body", "object"},
		{assert.WebhookTriggered, `{"body_match":{}}`, "config.body_match", "1 to 20"},
		{assert.WebhookTriggered, `{"body_match":{"/ok":1,"a/b":1}}`, "config.body_match", `"a/b"`},
		{assert.WebhookTriggered, `{"body_match":{"/a~2":1}}`, "config.body_match", "~2"},
		{assert.LLMJudge, `{}`, "config.prompt", "required"},
		{assert.LLMJudge, `{"prompt":" "}`, "config.prompt", "empty"},
		{assert.LLMJudge, `{"prompt":"` + long + `","threshold":-0.1,"samples":2,"output_type":"BOOLEAN"}`,
			"config.prompt config.output_type config.threshold config.samples", "8000"},
		{assert.LLMJudge, `{"prompt":"p","categories":["a","b"]}`, "config.categories", "categorical"},
		{assert.LLMJudge, `{"prompt":"p","output_type":"categorical"}`, "config.categories config.pass_categories", "required"},
		{assert.LLMJudge, `{"prompt":"p","output_type":"categorical","categories":["a","a"],"pass_categories":["b"]}`,
			"config.categories[1] config.pass_categories[0]", "unique"},
		{assert.LLMJudge, `{"prompt":"p","model":"m"}`, "config.model", "unknown"},
		{assert.CustomLLM, `{"prompt":"p"}`, "config.system_prompt config.prompt", "required"},
		{assert.CustomLLM, `{"system_prompt":"p","model":""}`, "config.model", "empty"},
		{assert.ServiceTone, `{"threshold":"high","prompt":"p"}`, "config.threshold config.prompt", "number"},
	} {
		_, err := assert.Compile(assert.Assertion{Type: c.kind, Config: json.RawMessage(c.config), Weight: 1})
		found, ok := errors.AsType[callwright.FieldErrors](err)
		fields := make([]string, len(found))
		for i, e := range found {
			fields[i] = e.Field
		}
		if got := strings.Join(fields, " "); !ok || got != c.fields || !strings.Contains(found[0].Message, c.says) {
			t.Errorf("%s %.80s: got %q (%v), want %q that says %q", c.kind, c.config, got, err, c.fields, c.says)
		}
	}
}

func TestCompileRefusesTheAssertion(t *testing.T) {
	t.Parallel()
	_, err := assert.Compile(assert.Assertion{
		ID: strings.Repeat("i", 65), Type: assert.ServiceTone, Name: strings.Repeat("é", 201), Weight: math.NaN(), Order: -1, Config: json.RawMessage(`{"x":1}`),
	})
	got := refusals(t, err)
	for _, field := range []string{"id", "name", "weight", "order", "config.x"} {
		if got[field] == "" {
			t.Errorf("%s is not refused: %v", field, got)
		}
	}
	for _, weight := range []float64{-0.1, 1000.5, math.Inf(1), math.Inf(-1)} {
		if _, err := assert.Compile(assert.Assertion{Type: assert.ServiceTone, Weight: weight}); refusals(t, err)["weight"] == "" {
			t.Errorf("the weight %v: %v", weight, err)
		}
	}
	for _, weight := range []float64{0, 1, 1000} {
		if _, err := assert.Compile(assert.Assertion{Type: assert.ServiceTone, Weight: weight, Name: strings.Repeat("é", 200)}); err != nil {
			t.Errorf("the weight %v: %v", weight, err)
		}
	}
}

func TestCompileBoundsItsErrors(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	_, err := assert.Compile(assert.Assertion{Type: assert.ServiceTone, Config: json.RawMessage("{" + b.String() + `"threshold":1}`)})
	if n := len(refusals(t, err)); n != 100 {
		t.Errorf("%d errors", n)
	}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   assert.Type
		config string
		want   string
	}{
		{assert.NodeReached, `{"node_id":"a"}`, "a"},
		{assert.NodesVisited, `{"node_ids":["a","b","a"],"forbidden":["c"]}`, "a b c"},
		{assert.TraversalMatch, `{"reference_path":["a","b","a"]}`, "a b"},
		{assert.WebhookTriggered, `{"node_id":"a","before_node":"b","after_node":"c"}`, "a b c"},
		{assert.StringCheck, `{"value":"a"}`, ""},
	} {
		check := compile(t, c.kind, c.config)
		got := check.Nodes()
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %s: %v", c.kind, c.config, got)
		}
		if len(got) > 0 {
			got[0] = "changed"
			if check.Nodes()[0] == "changed" {
				t.Error("the check can be changed")
			}
		}
	}
}

func TestEveryTypeCompiles(t *testing.T) {
	t.Parallel()
	for _, kind := range assert.Types() {
		config := minimal[kind]
		c := compile(t, kind, config)
		wantJudged := kind == assert.LLMJudge || kind == assert.CustomLLM || kind == assert.ServiceTone
		if c.Judged() != wantJudged {
			t.Errorf("%s: judged %t", kind, c.Judged())
		}
		r := c.Evaluate(t.Context(), nil, nil)
		if r.Outcome == "" || r.Reasoning == "" {
			t.Errorf("%s without evidence: %+v", kind, r)
		}
	}
}

// minimal contains the shortest valid configuration of each type.
var minimal = map[assert.Type]string{
	assert.LLMJudge: `{"prompt":"p"}`, assert.ServiceTone: ``, assert.VariableExtracted: `{"variable":"v"}`,
	assert.NodeReached: `{"node_id":"greet"}`, assert.NodesVisited: `{"node_ids":["greet"]}`, assert.WebhookTriggered: `{"url":"u"}`,
	assert.RegexMatch: `{"pattern":"a"}`, assert.StringCheck: `{"value":"a"}`, assert.CustomLLM: `{"system_prompt":"p"}`,
	assert.TraversalMatch: `{"reference_path":["greet"]}`,
}

func TestInvalid(t *testing.T) {
	t.Parallel()
	a := assert.Assertion{ID: "a1", Type: assert.RegexMatch, Name: "name", Config: json.RawMessage(`{"pattern":"("}`), Required: true, Weight: 2}
	_, err := assert.Compile(a)
	check(t, assert.Invalid(a, err), evaluation{outcome: assert.Error, code: assert.CodeInvalidConfig, turn: none})
}

// FuzzCompile checks that an assertion is either refused with fields or evaluated with a result that can be stored.
func FuzzCompile(f *testing.F) {
	for kind, config := range minimal {
		f.Add(string(kind), config, 1.0)
	}
	for _, config := range []string{
		`{"pattern":"(a|b)+?","flags":"ims","min_matches":3,"negate":true,"turn":2}`, `{"value":"É","operator":"not_contains","fold_whitespace":true}`,
		`{"pattern":"(((x{30}){30}))"}`, `{"pattern":"\\pL{99}|$|^|"}`,
	} {
		f.Add("REGEX_MATCH", config, 0.0)
		f.Add("STRING_CHECK", config, 0.0)
	}
	f.Add("WEBHOOK_TRIGGERED", `{"body_match":{"/order/items/0/sku":"a/b","":null},"url":"*shop*","url_match":"glob","request_body":{"n":5}}`, 1.0)
	f.Add("VARIABLE_EXTRACTED", `{"variable":"order.items","operator":"one_of","values":["2",2.0,true],"loose":true}`, 1.0)
	f.Fuzz(func(t *testing.T, kind, config string, weight float64) {
		a := assert.Assertion{Type: assert.Type(kind), Config: json.RawMessage(config), Weight: weight}
		c, err := assert.Compile(a)
		if err != nil {
			if len(refusals(t, err)) == 0 || c != nil {
				t.Errorf("refused without a field: %v", err)
			}
			return
		}
		e := order()
		before := snapshot(e)
		r := c.Evaluate(t.Context(), e, nil)
		if after := snapshot(e); after != before {
			t.Error("the evidence has changed")
		}
		if encode(t, r); r.Reasoning == "" || (r.Outcome == assert.Error) != (r.Score == nil) || (r.Outcome == assert.Passed) != (r.Code == "") {
			t.Errorf("result %+v", r)
		}
		if r.Score != nil && !(*r.Score >= 0 && *r.Score <= 1) {
			t.Errorf("score %v", *r.Score)
		}
	})
}
