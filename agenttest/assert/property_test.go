package assert_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
)

// anyPath draws a path over four nodes.
func anyPath(t *rapid.T, what string) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 9).Draw(t, what)
}

// slowLCS returns the length of the longest common subsequence by its definition.
func slowLCS(a, b []string) int {
	switch {
	case len(a) == 0 || len(b) == 0:
		return 0
	case a[0] == b[0]:
		return 1 + slowLCS(a[1:], b[1:])
	default:
		return max(slowLCS(a[1:], b), slowLCS(a, b[1:]))
	}
}

// slowDistance returns the Levenshtein distance by its definition.
func slowDistance(a, b []string) int {
	switch {
	case len(a) == 0 || len(b) == 0:
		return max(len(a), len(b))
	case a[0] == b[0]:
		return slowDistance(a[1:], b[1:])
	default:
		return 1 + min(slowDistance(a[1:], b[1:]), slowDistance(a[1:], b), slowDistance(a, b[1:]))
	}
}

// TestPathsCompare checks that the measures of two paths agree with their definitions, and that the diff transforms one path into the
// other.
func TestPathsCompare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyPath(t, "a"), anyPath(t, "b")
		a, b = a[:min(6, len(a))], b[:min(6, len(b))]
		edits, kept := assert.Compare(a, b)
		distance := assert.Distance(a, b)
		if kept != slowLCS(a, b) || distance != slowDistance(a, b) {
			t.Fatalf("%v, %v: kept %d, distance %d; want %d, %d", a, b, kept, distance, slowLCS(a, b), slowDistance(a, b))
		}
		_, back := assert.Compare(b, a)
		if back != kept || assert.Distance(b, a) != distance || assert.Common(a, b) != assert.Common(b, a) {
			t.Fatalf("%v, %v: not symmetric", a, b)
		}
		if common := assert.Common(a, b); common < kept || common > min(len(a), len(b)) || distance > max(len(a), len(b)) ||
			(distance == 0) != slices.Equal(a, b) {
			t.Fatalf("%v, %v: common %d, kept %d, distance %d", a, b, common, kept, distance)
		}
		checkDiff(t, edits, a, b, kept)
	})
}

// checkDiff checks that a diff contains each node of both paths once and in order.
func checkDiff(t *rapid.T, edits []assert.Edit, a, b []string, kept int) {
	var from, to []string
	for _, e := range edits {
		if e.Op != assert.Insert {
			if e.Reference != len(from) || a[e.Reference] != e.Node {
				t.Fatalf("%v, %v: edit %+v", a, b, e)
			}
			from = append(from, e.Node)
		}
		if e.Op != assert.Delete {
			if e.Visited != len(to) || b[e.Visited] != e.Node {
				t.Fatalf("%v, %v: edit %+v", a, b, e)
			}
			to = append(to, e.Node)
		}
		if e.Op == assert.Insert && e.Reference != -1 || e.Op == assert.Delete && e.Visited != -1 {
			t.Fatalf("%v, %v: edit %+v", a, b, e)
		}
		if e.Op == assert.Keep {
			kept--
		}
	}
	if !slices.Equal(from, a) || !slices.Equal(to, b) || kept != 0 {
		t.Fatalf("%v, %v: the diff is %+v", a, b, edits)
	}
}

func TestCollapse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		path := anyPath(t, "path")
		before := slices.Clone(path)
		once := assert.Collapse(path)
		if !slices.Equal(path, before) {
			t.Fatal("the path has changed")
		}
		if !slices.Equal(assert.Collapse(once), once) {
			t.Fatalf("%v collapses to %v and then differently", path, once)
		}
		for i := range once {
			if i > 0 && once[i] == once[i-1] {
				t.Fatalf("%v collapses to %v", path, once)
			}
		}
	})
}

// TestFold checks that texts with insignificant differences fold to equal texts, and that ASCII characters fold equally in texts with other
// characters.
func TestFold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("abkszABKSZ \t\n\v.1"))).Draw(t, "text")
		for _, blanks := range []bool{false, true} {
			once := assert.Fold(text, true, blanks)
			if assert.Fold(swapCase(text), true, blanks) != once || assert.Fold(once, true, blanks) != once {
				t.Fatalf("%q folds to %q", text, once)
			}
			if beside := assert.Fold("é"+text, true, blanks); beside != "É"+once {
				t.Fatalf("%q folds to %q, and beside é to %q", text, once, beside)
			}
		}
		if blank := assert.Fold(text, false, true); strings.Contains(blank, "  ") || strings.ContainsAny(blank, "\t\n\v") ||
			strings.Join(strings.Fields(blank), "") != strings.Join(strings.Fields(text), "") {
			t.Fatalf("%q has the white space %q", text, blank)
		}
	})
}

// swapCase swaps upper and lower case of ASCII letters.
func swapCase(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, text)
}

// TestGlob checks that a pattern matches the same texts as the equivalent regular expression.
func TestGlob(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.SampledFrom([]rune("ab*")), 0, 8, -1).Draw(t, "pattern")
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab")), 0, 10, -1).Draw(t, "text")
		want := regexp.MustCompile("^" + strings.ReplaceAll(pattern, "*", ".*") + "$").MatchString(text)
		if assert.Glob(pattern, text) != want {
			t.Fatalf("%q on %q: not %t", pattern, text, want)
		}
	})
}

// anyExpression draws a regular expression over few letters.
func anyExpression(t *rapid.T, depth int) string {
	atoms := []string{"a", "b", "ab", "k", "S", "K", ".", "^", "$", "", "[ab]", "é", "\\x{fffd}", "(?i:a)", "(?-i:b)", "\\b"}
	if depth == 0 || rapid.Bool().Draw(t, "atom") {
		return rapid.SampledFrom(atoms).Draw(t, "letter")
	}
	a, b := anyExpression(t, depth-1), anyExpression(t, depth-1)
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return "(?:" + a + "|" + b + ")"
	case 1:
		return "(" + a + ")" + rapid.SampledFrom([]string{"*", "+", "?", "{2}", "{0,1}", "{1,}"}).Draw(t, "times")
	default:
		return a + b
	}
}

// TestLiterals checks that every text that an expression matches contains one of the expression's literals, and that the literals exclude
// texts without a match in some examples.
func TestLiterals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		expression, err := regexp.Compile(rapid.SampledFrom([]string{"", "(?i)"}).Draw(t, "flags") + anyExpression(t, 4))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "A", "B", "k", "s", "S", "\u212a", "ſ", "é", "É", "\u0301", "\xff", "\n"}), 0, 8).Draw(t, "text"), "")
		if expression.MatchString(text) && !assert.MayMatch(expression, text) {
			t.Fatalf("%s matches %q", expression, text)
		}
	})
	for expression, text := range map[string]string{`(?i)\b(refund|lawyer)\b`: "Thank you", `item (\d+)`: "none", `(ab)+c?`: "ba", `a{2}`: "b"} {
		if assert.MayMatch(regexp.MustCompile(expression), text) {
			t.Errorf("%s may match %q", expression, text)
		}
	}
	for expression, text := range map[string]string{`(?i)a`: "a\u0301", `(?i)k`: "\u212a", `\x{fffd}b`: "\xffb", `(?i:x)|y`: "X"} {
		if !assert.MayMatch(regexp.MustCompile(expression), text) {
			t.Errorf("%s may not match %q", expression, text)
		}
	}
}

// anyEvidence draws the evidence of a conversation at the nodes a to d.
func anyEvidence(t *rapid.T) *assert.Evidence {
	text := rapid.SampledFrom([]string{"", "yes", "YES please", "No! Nope.", "12", "\xff", "a\nb", "é"})
	nodes := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	e := &assert.Evidence{Variables: map[string]any{}, Graph: assert.Graph{}}
	for range rapid.IntRange(0, 6).Draw(t, "turns") {
		turn := assert.Turn{Role: rapid.SampledFrom([]llm.Role{llm.RoleAgent, llm.RoleCaller}).Draw(t, "role"), Text: text.Draw(t, "text")}
		if rapid.Bool().Draw(t, "has node") {
			turn.Node = nodes.Draw(t, "node")
		}
		e.Turns = append(e.Turns, turn)
	}
	at := rapid.IntRange(-1, max(len(e.Turns)-1, -1))
	for range rapid.IntRange(0, 6).Draw(t, "visits") {
		e.Visits = append(e.Visits, assert.Visit{Node: nodes.Draw(t, "visit"), Turn: at.Draw(t, "turn")})
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		e.Graph[id] = assert.Node{Next: rapid.SliceOfN(nodes, 0, 3).Draw(t, "next"), Fills: rapid.SliceOfN(rapid.SampledFrom([]string{"v", "w"}), 0, 2).Draw(t, "fills"), Says: text.Draw(t, "says")}
	}
	if rapid.Bool().Draw(t, "v") {
		e.Variables["v"] = rapid.SampledFrom([]any{"yes", int64(2), 2.5, true, nil, map[string]any{"x": int64(1)}, []any{"a"}}).Draw(t, "value")
	}
	for range rapid.IntRange(0, 3).Draw(t, "requests") {
		e.Webhooks = append(e.Webhooks, assert.Webhook{
			Node: nodes.Draw(t, "sender"), Method: rapid.SampledFrom([]string{"GET", "POST"}).Draw(t, "method"), URL: "https://x.example/a",
			Body: json.RawMessage(rapid.SampledFrom([]string{"", "{}", `{"a":[1,2]}`, "{", "null"}).Draw(t, "body")), Turn: at.Draw(t, "at"),
			Visit: rapid.IntRange(0, 6).Draw(t, "count"),
		})
	}
	return e
}

// configs contains configurations that name the nodes and variables of anyEvidence.
var configs = []struct {
	kind   assert.Type
	config string
}{
	{assert.RegexMatch, `{"pattern":"(?i)yes|[0-9]"}`}, {assert.RegexMatch, `{"pattern":".*","negate":true,"min_matches":3}`},
	{assert.RegexMatch, `{"pattern":"y*","turn":1,"role":"user"}`}, {assert.RegexMatch, `{"pattern":"2","target":"variable","variable":"v"}`},
	{assert.StringCheck, `{"value":"yes"}`}, {assert.StringCheck, `{"value":"no","operator":"not_contains","role":"assistant"}`},
	{assert.StringCheck, `{"value":"true","operator":"not_equals","target":"variable","variable":"v"}`},
	{assert.VariableExtracted, `{"variable":"v"}`}, {assert.VariableExtracted, `{"variable":"v.x","operator":"one_of","values":[1,"yes"],"loose":true}`},
	{assert.NodeReached, `{"node_id":"d"}`}, {assert.NodesVisited, `{"node_ids":["a","b"],"forbidden":["c"]}`},
	{assert.NodesVisited, `{"node_ids":["a","b","a"],"in_order":true}`}, {assert.NodesVisited, `{"node_ids":["c","d"],"match":"any"}`},
	{assert.TraversalMatch, `{"reference_path":["a","b","c"]}`}, {assert.TraversalMatch, `{"reference_path":["a","b"],"mode":"exact","collapse_repeats":false}`},
	{assert.TraversalMatch, `{"reference_path":["b","a"],"mode":"prefix"}`}, {assert.TraversalMatch, `{"reference_path":["b","a","b"],"mode":"subsequence"}`},
	{assert.TraversalMatch, `{"reference_path":["a","a","d"],"mode":"unordered"}`},
	{assert.WebhookTriggered, `{"url":"*/a","url_match":"glob","min_count":2}`}, {assert.WebhookTriggered, `{"method":"POST","max_count":1,"before_node":"b"}`},
	{assert.WebhookTriggered, `{"request_body":{"a":[1,2]},"after_node":"a"}`}, {assert.WebhookTriggered, `{"body_match":{"/a/1":2.0}}`},
	{assert.LLMJudge, `{"prompt":"p","output_type":"score"}`}, {assert.ServiceTone, `{}`},
}

// TestEvaluate checks that every result has an outcome with its score and code, that evaluations are repeatable and do not change the
// evidence, and that a failure blames only visited nodes.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	checks := make([]*assert.Check, len(configs))
	for i, c := range configs {
		checks[i] = compile(t, c.kind, c.config)
	}
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvidence(t)
		before := snapshot(e)
		score := rapid.Float64Range(0, 1).Draw(t, "score")
		judge := &opinions{opinion: assert.Opinion{
			Verdict: rapid.SampledFrom([]assert.JudgeVerdict{assert.JudgePass, assert.JudgeFail, assert.CannotJudge, ""}).Draw(t, "verdict"),
			Score:   &score, Tone: &assert.Tone{}, Quotes: []assert.Quote{{Turn: rapid.IntRange(-2, 8).Draw(t, "quote"), Verified: true}},
		}}
		results := make([]assert.Result, len(checks))
		for i, c := range checks {
			r := c.Evaluate(t.Context(), e, judge)
			results[i] = r
			checkResult(t, configs[i].config, r, e)
			first := encode(t, r)
			if again := encode(t, c.Evaluate(t.Context(), e, judge)); again != first {
				t.Fatalf("%s: %s, and again %s", configs[i].config, first, again)
			}
		}
		if after := snapshot(e); after != before {
			t.Fatal("the evidence has changed")
		}
		some := rapid.SliceOfN(rapid.SampledFrom(results), 1, 6).Draw(t, "some")
		blamed := assert.Blame(e, some)
		visited := slices.ContainsFunc(e.Visits, func(v assert.Visit) bool { return v.Node == blamed })
		placed := slices.ContainsFunc(some, func(r assert.Result) bool { return r.Outcome == failed && r.Node == blamed })
		if blamed != "" && !(visited && placed) {
			t.Fatalf("blames %q", blamed)
		}
	})
}

// checkResult checks that the fields of a result are consistent.
func checkResult(t *rapid.T, config string, r assert.Result, e *assert.Evidence) {
	whole := r.Outcome == passed && r.Score != nil && r.Code == "" && r.Node == "" || r.Outcome == failed && r.Score != nil && r.Code != "" ||
		r.Outcome == broken && r.Score == nil && r.Code != "" && r.Node == ""
	if !whole || r.Reasoning == "" || r.Score != nil && (*r.Score < 0 || *r.Score > 1) || r.Turn != nil && (*r.Turn < 0 || *r.Turn >= len(e.Turns)) {
		t.Fatalf("%s: %+v", config, r)
	}
	if visited := slices.ContainsFunc(e.Visits, func(v assert.Visit) bool { return v.Node == r.Node }); r.Node != "" && !visited {
		t.Fatalf("%s: blames %q, which was not visited", config, r.Node)
	}
}

// TestConcurrentUse checks that goroutines may share checks and evidence.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	e := order()
	for _, c := range configs {
		check := compile(t, c.kind, c.config)
		want := check.Evaluate(t.Context(), e, nil)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if got := check.Evaluate(t.Context(), e, nil); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %+v, want %+v", c.config, got, want)
				}
			})
		}
		all.Wait()
	}
}
