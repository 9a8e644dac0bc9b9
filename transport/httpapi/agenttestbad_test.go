package httpapi_test

import (
	"strings"
	"testing"
)

// TestBadAssertions checks that assertions that cannot be evaluated are refused with the name of the field, and that nothing is stored.
func TestBadAssertions(t *testing.T) {
	t.Parallel()
	_, w := tested(t)
	const good = `{"type":"NODE_REACHED","config":{"node_id":"goodbye"}}`
	for name, c := range map[string]struct{ field, assertion string }{
		"an unknown type":          {"assertions[0].type", `{"type":"LATENCY_BELOW","config":{}}`},
		"a type in small letters":  {"assertions[0].type", `{"type":"node_reached","config":{"node_id":"a"}}`},
		"an unknown key":           {"assertions[1].config.nodeId", good + `,{"type":"NODE_REACHED","config":{"node_id":"a","nodeId":"b"}}`},
		"an unknown member":        {"assertions[0].colour", `{"type":"NODE_REACHED","config":{"node_id":"a"},"colour":"red"}`},
		"a pattern with a fault":   {"assertions[0].config.pattern", `{"type":"REGEX_MATCH","config":{"pattern":"(a"}}`},
		"a pattern that is large":  {"assertions[0].config.pattern", `{"type":"REGEX_MATCH","config":{"pattern":"` + strings.Repeat("a", 1001) + `"}}`},
		"a pattern that grows":     {"assertions[0].config.pattern", `{"type":"REGEX_MATCH","config":{"pattern":"((a{100}){100}){100}"}}`},
		"a negative weight":        {"assertions[0].weight", `{"type":"NODE_REACHED","config":{"node_id":"a"},"weight":-1}`},
		"a weight beyond all":      {"assertions[0].weight", `{"type":"NODE_REACHED","config":{"node_id":"a"},"weight":1e999}`},
		"a weight that is no text": {"assertions[0].weight", `{"type":"NODE_REACHED","config":{"node_id":"a"},"weight":"NaN"}`},
	} {
		t.Log(name)
		testError(w, 400, "BAD_REQUEST", c.field, "POST", "/scenarios",
			`{"pathway_id":"$pathway","name":"Bad","tester_persona_prompt":"P","assertions":[`+c.assertion+`]}`)
		testError(w, 400, "BAD_REQUEST", c.field, "PUT", "/scenarios/$scenario", `{"assertions":[`+c.assertion+`]}`)
	}
	optional := `"is_required_for_promotion":true,"assertions":[{"type":"NODE_REACHED","config":{"node_id":"a"},"is_required":false}]`
	testError(w, 400, "BAD_REQUEST", "assertions", "POST", "/scenarios", `{"pathway_id":"$pathway","name":"Bad","tester_persona_prompt":"P",`+optional+`}`)
	testError(w, 400, "BAD_REQUEST", "assertions", "PUT", "/scenarios/$scenario", `{`+optional+`}`)
	if list := w.do(200, "GET", "/v1/agent-testing/scenarios", "")["data"].([]any); len(list) != 1 || at(t, list, 0, "assertions", 0, "config", "node_id") != "goodbye" {
		t.Errorf("there are %v", list)
	}
}
