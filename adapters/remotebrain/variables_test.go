package remotebrain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/remotebrain"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
)

// sets returns an answer that sets variables in one line for each map.
func sets(lines ...map[string]any) string {
	var b strings.Builder
	b.WriteString(`{"type":"say","text":"Hello."}` + "\n")
	for _, variables := range lines {
		text, err := json.Marshal(map[string]any{"type": "set", "variables": variables})
		if err != nil {
			panic(err)
		}
		b.Write(append(text, '\n'))
	}
	return b.String() + `{"type":"done"}`
}

// TestManySets checks that an answer with more than MaxSets lines that set variables is invalid.
func TestManySets(t *testing.T) {
	t.Parallel()
	lines := make([]map[string]any, remotebrain.MaxSets+1)
	for i := range lines {
		lines[i] = map[string]any{"a": i}
	}
	if _, err := answer(t, says(sets(lines[1:]...)), nil); err != nil {
		t.Error(err)
	}
	if _, err := answer(t, says(sets(lines...)), nil); callwright.CodeOf(err) != callwright.CodeUnavailable || !strings.Contains(err.Error(), "more than 100 lines") {
		t.Errorf("one more line: %v", err)
	}
}

// TestVariablesOfAConversation checks that the variables that a service sets in all turns are bounded, that a replaced value does not count,
// and that a withdrawn turn changes neither the variables nor the bound.
func TestVariablesOfAConversation(t *testing.T) {
	t.Parallel()
	var next, body string
	b := brain(t, "https://brain.example", func(c *remotebrain.Config) {
		c.Variables = map[string]any{"given": strings.Repeat("x", remotebrain.MaxVariables)} // a service did not set it
		c.Sender = stream(func(_ context.Context, request []byte) (io.ReadCloser, error) {
			body = string(request)
			return io.NopCloser(strings.NewReader(next)), nil
		})
	})
	respond := func(early *conversation.Early, variables ...map[string]any) (err error) {
		next = sets(variables...)
		for _, fault := range b.Respond(t.Context(), conversation.Turn{Kind: conversation.TurnSpeech, Text: "Go on.", Early: early}) {
			if fault != nil {
				err = fault
			}
		}
		return err
	}
	half := strings.Repeat("x", remotebrain.MaxVariables/2-100)
	for i := range 10 {
		if err := respond(nil, map[string]any{"a": half}, map[string]any{"a": half + fmt.Sprint(i)}); err != nil {
			t.Fatalf("turn %d: %v", i, err)
		}
	}
	withdrawn := new(conversation.Early)
	withdrawn.Decide(false)
	if err := respond(withdrawn, map[string]any{"b": half, "c": half}); err != nil {
		t.Error(err)
	}
	if err := respond(nil, map[string]any{"b": half}); err != nil {
		t.Error(err)
	}
	if strings.Contains(body, `"c":`) || len(body) > 2*remotebrain.MaxVariables {
		t.Errorf("the request has %d bytes", len(body))
	}
	if err := respond(nil, map[string]any{"c": half}); callwright.CodeOf(err) != callwright.CodeUnavailable || !strings.Contains(err.Error(), "more than 65536 bytes") {
		t.Errorf("too many variables: %v", err)
	}
}

// TestPrintableVariables checks that the record contains no text of a service that would disguise a page's text, and no secret of the URL.
func TestPrintableVariables(t *testing.T) {
	t.Parallel()
	var logs []pathway.Log
	line := map[string]any{"a\u202e": "b\u202e\u0000", "list": []any{"c\u2066", 1.0, map[string]any{"d\u0007": "e\u202d"}}, "yes": true}
	for _, url := range []string{"https://brain.example/x?key=secret", "https://brain.example/x#secret", "https://brain.example/x#?secret"} {
		if _, err := answer(t, says(sets(line)), func(c *remotebrain.Config) {
			c.URL, c.Observe = url, func(l pathway.Log) { logs = append(logs, l) }
		}); err != nil {
			t.Error(err)
		}
	}
	want := map[string]any{"a": "b", "list": []any{"c", 1.0, map[string]any{"d": "e"}}, "yes": true}
	for _, l := range logs {
		if r := l.Entries[0].Request; r.URL != "https://brain.example/x" || !reflect.DeepEqual(r.Variables, want) {
			t.Errorf("%+v", r)
		}
	}
	if len(logs) != 3 {
		t.Errorf("%d logs", len(logs))
	}
}
