package assert_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/agenttest/assert"
)

// walked returns evidence in which the letters of path are the visited nodes. In its graph, each letter leads to the next letter.
func walked(path string) *assert.Evidence {
	e := &assert.Evidence{Graph: assert.Graph{}}
	for c := 'a'; c <= 'z'; c++ {
		e.Graph[string(c)] = assert.Node{Next: []string{string(c + 1)}}
	}
	for i, c := range path {
		e.Visits = append(e.Visits, assert.Visit{Node: string(c), Turn: 2*i - 1})
		e.Turns = append(e.Turns, agent("words"), caller("more"))
	}
	return e
}

// names returns the letters of path as a JSON array.
func names(path string) string {
	return `["` + strings.Join(strings.Split(path, ""), `","`) + `"]`
}

func TestNodeReached(t *testing.T) {
	t.Parallel()
	unknown := evaluation{outcome: broken, code: assert.CodeUnknownNode, turn: none}
	with := func(c evaluation, name, config string, e *assert.Evidence) evaluation {
		c.name, c.config, c.e = name, config, e
		return c
	}
	unmapped := walked("ab")
	unmapped.Graph = nil
	many := walked(strings.Repeat("a", assert.MaxVisits+1))
	evaluate(t, assert.NodeReached, []evaluation{
		{name: "reached", config: `{"node_id":"ask"}`, outcome: passed, turn: 1},
		{name: "before anything was said", config: `{"node_id":"greet"}`, outcome: passed, turn: none},
		{name: "missed, from the last node", config: `{"node_id":"bye"}`, outcome: failed, code: assert.CodeNodeMissed, turn: none, node: "pay"},
		{name: "missed, from an earlier node", config: `{"node_id":"help"}`, outcome: failed, code: assert.CodeNodeMissed, turn: none, node: "greet"},
		{name: "missed, from nowhere", config: `{"node_id":"island"}`, outcome: failed, code: assert.CodeNodeMissed, turn: none},
		{name: "missed in a loop", config: `{"node_id":"z"}`, e: walked("abc"), outcome: failed, code: assert.CodeNodeMissed, turn: none, node: "c"},
		with(unknown, "unknown", `{"node_id":"nope"}`, nil),
		with(unknown, "no nodes", `{"node_id":"ask"}`, said(agent("a"))),
		{name: "graph not known, reached", config: `{"node_id":"b"}`, e: unmapped, outcome: passed, turn: 1},
		{name: "graph not known, missed", config: `{"node_id":"c"}`, e: unmapped, outcome: failed, code: assert.CodeNodeMissed, turn: none},
		{name: "nothing visited", config: `{"node_id":"c"}`, e: walked(""), outcome: failed, code: assert.CodeNodeMissed, turn: none},
		{name: "too many visits", config: `{"node_id":"c"}`, e: many, outcome: broken, code: assert.CodeTooLarge, turn: none},
	})
}

func TestNodesVisited(t *testing.T) {
	t.Parallel()
	long := walked(strings.Repeat("ab", 257))
	evaluate(t, assert.NodesVisited, []evaluation{
		{name: "all", config: `{"node_ids":["pay","greet"]}`, outcome: passed, turn: none},
		{name: "one of two", config: `{"node_ids":["pay","bye"]}`, outcome: failed, code: assert.CodeNodeMissed, score: 0.5, turn: none, node: "pay"},
		{name: "a node twice counts once", config: `{"node_ids":["pay","bye","pay"]}`, outcome: failed, code: assert.CodeNodeMissed, score: 0.5, turn: none, node: "pay"},
		{name: "none of two", config: `{"node_ids":["help","bye"]}`, outcome: failed, code: assert.CodeNodeMissed, turn: none, node: "greet"},
		{name: "any", config: `{"node_ids":["help","pay"],"match":"any"}`, outcome: passed, turn: none},
		{name: "not any", config: `{"node_ids":["help","bye"],"match":"any"}`, outcome: failed, code: assert.CodeNodeMissed, turn: none, node: "greet"},
		{name: "in order", config: `{"node_ids":["greet","pay"],"in_order":true}`, outcome: passed, turn: none},
		{name: "not in order", config: `{"node_ids":["pay","greet","ask"],"in_order":true}`, outcome: failed, code: assert.CodeWrongOrder, score: 2.0 / 3, turn: none, node: "ask"},
		{name: "not all in order", config: `{"node_ids":["greet","help","pay"],"in_order":true}`, outcome: failed, code: assert.CodeNodeMissed, score: 2.0 / 3, turn: none, node: "greet"},
		{name: "twice in order", config: `{"node_ids":["a","b","a"],"in_order":true}`, e: walked("aba"), outcome: passed, turn: none},
		{name: "not twice in order", config: `{"node_ids":["a","b","a"],"in_order":true}`, e: walked("ab"), outcome: failed, code: assert.CodeWrongOrder, score: 2.0 / 3, turn: none, node: "b"},
		{name: "forbidden", config: `{"node_ids":["greet"],"forbidden":["help","pay"]}`, outcome: failed, code: assert.CodeNodeForbidden, turn: 3, node: "ask"},
		{name: "forbidden start", config: `{"node_ids":["pay"],"forbidden":["greet"]}`, outcome: failed, code: assert.CodeNodeForbidden, turn: none, node: "greet"},
		{name: "not forbidden", config: `{"node_ids":["greet"],"forbidden":["help"]}`, outcome: passed, turn: none},
		{name: "unknown", config: `{"node_ids":["greet","nope"]}`, outcome: broken, code: assert.CodeUnknownNode, turn: none},
		{name: "any, one unknown", config: `{"node_ids":["nope","greet"],"match":"any"}`, outcome: passed, turn: none},
		{name: "any, one unknown, none visited", config: `{"node_ids":["nope","bye"],"match":"any"}`, outcome: failed, code: assert.CodeNodeMissed, turn: none, node: "pay"},
		{name: "any, all unknown", config: `{"node_ids":["nope","never"],"match":"any"}`, outcome: broken, code: assert.CodeUnknownNode, turn: none},
		{name: "any, unknown forbidden", config: `{"node_ids":["greet"],"match":"any","forbidden":["nope"]}`, outcome: broken, code: assert.CodeUnknownNode, turn: none},
		{name: "unknown forbidden", config: `{"node_ids":["greet"],"forbidden":["nope"]}`, outcome: broken, code: assert.CodeUnknownNode, turn: none},
		{name: "too long for an order", config: `{"node_ids":["a"],"in_order":true}`, e: long, outcome: broken, code: assert.CodeTooLarge, turn: none},
		{name: "not too long for a set", config: `{"node_ids":["a"]}`, e: long, outcome: passed, turn: none},
	})
}

func TestTraversalMatch(t *testing.T) {
	t.Parallel()
	type of struct {
		mode, reference, path string
		score                 float64
		node                  string // the blamed node of a failure; "pass" means no failure
	}
	var cases []evaluation
	for _, c := range []of{
		{`"mode":"exact"`, "abc", "abc", 1, "pass"},
		{`"mode":"exact"`, "abc", "aabbc", 1, "pass"},
		{`"mode":"exact"`, "aabc", "abc", 1, "pass"},
		{`"mode":"exact","collapse_repeats":false`, "abc", "aabc", 0.75, "c"},
		{`"mode":"exact"`, "abcd", "abc", 0.75, "c"},
		{`"mode":"exact"`, "abc", "abcd", 0.75, "c"},
		{`"mode":"exact"`, "abc", "acb", 1.0 / 3, ""},
		{`"mode":"exact"`, "abc", "", 0, ""},
		{`"mode":"exact"`, "abc", "xyz", 0, ""},
		{`"mode":"prefix"`, "ab", "abxyz", 1, "pass"},
		{`"mode":"prefix"`, "ab", "ab", 1, "pass"},
		{`"mode":"prefix"`, "abcd", "abx", 0.5, "b"},
		{`"mode":"prefix"`, "ab", "xab", 0, "b"},
		{`"mode":"prefix"`, "abc", "ab", 2.0 / 3, "b"},
		{`"mode":"subsequence"`, "ac", "xaybzc", 1, "pass"},
		{`"mode":"subsequence"`, "abcd", "adcb", 0.5, ""},
		{`"mode":"subsequence"`, "abcd", "xaxbx", 0.5, "b"},
		{`"mode":"unordered"`, "abca", "caba", 1, "pass"},
		{`"mode":"unordered"`, "abca", "cab", 0.75, ""},
		{`"mode":"unordered"`, "ab", "abx", 2.0 / 3, "b"},
		{`"mode":"similarity"`, "abcde", "abxde", 0.8, "pass"},
		{`"mode":"similarity"`, "abcde", "abxxe", 0.6, "e"},
		{`"threshold":0.6`, "abcde", "abxye", 0.6, "pass"},
		{`"threshold":0.61`, "abcde", "abxye", 0.6, "e"},
		{`"threshold":1`, "abc", "abc", 1, "pass"},
		{`"threshold":1`, "abc", "", 0, ""},
	} {
		e := evaluation{name: c.mode + c.reference + "-" + c.path, config: `{"reference_path":` + names(c.reference) + `,` + c.mode + `}`, e: walked(c.path), turn: none}
		if c.node == "pass" {
			e.outcome, e.score = passed, c.score
		} else {
			e.outcome, e.code, e.score, e.node = failed, assert.CodeWrongPath, c.score, c.node
		}
		cases = append(cases, e)
	}
	evaluateTraversals(t, cases)
	evaluate(t, assert.TraversalMatch, []evaluation{
		{name: "unknown node", config: `{"reference_path":["greet","nope"]}`, outcome: broken, code: assert.CodeUnknownNode, turn: none},
		{name: "too long", config: `{"reference_path":["a"]}`, e: walked(strings.Repeat("ab", 257)), outcome: broken, code: assert.CodeTooLarge, turn: none},
		{name: "as long as allowed", config: `{"reference_path":["a"]}`, e: walked(strings.Repeat("ab", 256)), outcome: failed, code: assert.CodeWrongPath, score: 1.0 / 512, turn: none, node: "a"},
		{name: "short when collapsed", config: `{"reference_path":["a"]}`, e: walked(strings.Repeat("a", 600)), outcome: passed, turn: none},
	})
}

// evaluateTraversals evaluates the rows of a table. Where several shortest diffs exist, the node of a failed row is empty, and any visited
// node may be blamed.
func evaluateTraversals(t *testing.T, cases []evaluation) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := compile(t, assert.TraversalMatch, c.config).Evaluate(t.Context(), c.e, nil)
			if c.outcome == failed && c.node == "" {
				if c.node = r.Node; c.node != "" && !strings.Contains(strings.Join(r.Actual.(assert.Traversal).Path, ""), c.node) {
					t.Errorf("blames %q, which was not visited", c.node)
				}
			}
			check(t, r, c)
		})
	}
}

func TestTraversalMatchShowsTheDiff(t *testing.T) {
	t.Parallel()
	r := compile(t, assert.TraversalMatch, `{"reference_path":["a","b","c","d"]}`).Evaluate(t.Context(), walked("aaxcdd"), nil)
	got := encode(t, r.Actual)
	const want = `{"path":["a","x","c","d"],"similarity":0.75,"lcs":0.75,"diff":[` +
		`{"op":"keep","node":"a","reference":0,"visited":0},{"op":"delete","node":"b","reference":1,"visited":-1},` +
		`{"op":"insert","node":"x","reference":-1,"visited":1},{"op":"keep","node":"c","reference":2,"visited":2},` +
		`{"op":"keep","node":"d","reference":3,"visited":3}]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r = compile(t, assert.TraversalMatch, `{"reference_path":["a"],"threshold":0}`).Evaluate(t.Context(), walked(""), nil)
	if r.Outcome != passed || *r.Score != 0 {
		t.Errorf("with the threshold 0: %+v", r)
	}
	if got := encode(t, r.Actual); !strings.Contains(got, `"path":[]`) {
		t.Errorf("without visits: %s", got)
	}
}
