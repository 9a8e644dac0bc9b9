package agentstore_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// TestOddValues stores nil and empty values and a time with nanoseconds and a zone: only the time changes, to UTC and microseconds.
func TestOddValues(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		calls := agentstore.Calls{DB: open(t)}
		berlin := time.FixedZone("", 2*60*60)
		fine := time.Date(2026, 5, 4, 3, 2, 1, 123456789, berlin)
		want := call.Call{ID: "c", Org: "o", Queue: call.QueueQueued, CreatedAt: fine, Metadata: map[string]any{}, Version: 1}
		if err := calls.Insert(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		got, err := calls.Get(t.Context(), "o", "c")
		if err != nil {
			t.Fatal(err)
		}
		want.CreatedAt = time.Date(2026, 5, 4, 1, 2, 1, 123456000, time.UTC)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	})
}

// TestTextComesBack checks that texts with a meaning in SQL, JSON or bun are stored and found unchanged.
func TestTextComesBack(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		calls := agentstore.Calls{DB: open(t)}
		for i, text := range []string{
			"", "it's", `"\u0000"`, `\u0000`, "?", "?0 ?TableName", "\\", `\'`, "ü\u2028\U0001F600", "{}'; --", "\ufffd", "$1", "E'\\n'",
		} {
			c := call.Call{
				ID: fmt.Sprint("c", i, text), Org: "o", From: text, ErrorMessage: text,
				Metadata: map[string]any{"k" + text: text}, Agent: agents.Agent{Task: text},
			}
			if err := calls.Insert(t.Context(), c); err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			got, err := calls.Get(t.Context(), "o", c.ID)
			if err != nil || got.ErrorMessage != text || got.Metadata["k"+text] != text || got.Agent.Task != text {
				t.Errorf("%q came back as %+v, %v", text, got, err)
			}
			page, _, err := calls.List(t.Context(), "o", call.Filter{From: text, Limit: 100})
			if err != nil || text != "" && len(page.Items) != 1 {
				t.Errorf("%q was found in %d calls, %v", text, len(page.Items), err)
			}
		}
	})
}

// TestLogsKeepAnyText checks that logs preserve any characters, because they contain texts of callers and other systems. There are two
// exceptions: bytes that are not UTF-8 become U+FFFD, and request bodies lose white space between JSON tokens.
func TestLogsKeepAnyText(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		calls := agentstore.Calls{DB: open(t)}
		if err := calls.Insert(t.Context(), call.Call{ID: "c", Org: "o"}); err != nil {
			t.Fatal(err)
		}
		const odd = "it's \x00 \\u0000 ? ?0 \u2028 <&>"
		want := pathway.Log{Turn: 1, Heard: odd, Entries: []pathway.LogEntry{
			{Variables: map[string]any{odd: odd}, Request: &request.Log{Body: json.RawMessage(`{"a": "\u0000"}`)}},
		}}
		if err := calls.AppendLog(t.Context(), "o", "c", want); err != nil {
			t.Fatal(err)
		}
		got, err := calls.Logs(t.Context(), "o", "c")
		want.Entries[0].Request.Body = json.RawMessage(`{"a":"\u0000"}`)
		if err != nil || !reflect.DeepEqual(got, []pathway.Log{want}) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
		if err := calls.AppendLog(t.Context(), "o", "c", pathway.Log{Turn: 2, Heard: "a\xffb"}); err != nil {
			t.Fatal(err)
		}
		if got, err = calls.Logs(t.Context(), "o", "c"); err != nil || len(got) != 2 || got[1].Heard != "a\ufffdb" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// TestMembersOfLogs fails for a member of a turn's log that is not listed with the reason why it may be stored in plain text.
func TestMembersOfLogs(t *testing.T) {
	t.Parallel()
	storetest.CheckMembers(t, "log", agentstore.LogType, map[storetest.Why]string{
		storetest.Key:   "node entries[].node entries[].chosen entries[].edge",
		storetest.State: "entries[].kind entries[].request.method entries[].request.error entries[].settings.* models[].cause withdrawn.models[].cause",
		storetest.Label: "entries[].name entries[].tag entries[].request.name models[].model models[].replaced withdrawn.models[].model withdrawn.models[].replaced",
		storetest.Route: "entries[].request.url", // stored without its query
		storetest.Talk:  "heard said entries[].text entries[].variables.* entries[].request.body entries[].request.variables.*",
	})
}

// TestDocumentsComeBackAsTheyWere checks that documents are preserved byte for byte, except that line feeds become spaces and an empty list
// becomes nil. The conformance suites compare only the meaning of the JSON.
func TestDocumentsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		pathways := agentstore.Pathways{DB: open(t)}
		raw := json.RawMessage("{\r\n\n\t\"b\": 1e2, \"a\": \"\\u0000<&>\\n\u2028\",\n\n\"a\": null }")
		kept := json.RawMessage(strings.ReplaceAll(string(raw), "\n", " "))
		for name, test := range map[string]struct{ given, want graph.Document }{
			"none":  {graph.Document{Nodes: []json.RawMessage{}}, graph.Document{}},
			"nodes": {graph.Document{Nodes: []json.RawMessage{raw, raw}}, graph.Document{Nodes: []json.RawMessage{kept, kept}}},
			"edges": {graph.Document{Edges: []json.RawMessage{raw, raw}}, graph.Document{Edges: []json.RawMessage{kept, kept}}},
			"both": {
				graph.Document{Nodes: []json.RawMessage{raw}, Edges: []json.RawMessage{raw, raw}},
				graph.Document{Nodes: []json.RawMessage{kept}, Edges: []json.RawMessage{kept, kept}},
			},
		} {
			if err := pathways.InsertPathway(t.Context(), pathway.Pathway{ID: name, Org: "o", Draft: test.given}); err != nil {
				t.Fatal(err)
			}
			got, err := pathways.Pathway(t.Context(), "o", name)
			if err != nil || !reflect.DeepEqual(got.Draft, test.want) {
				t.Errorf("%s: got %q, %v", name, got.Draft, err)
			}
		}
	})
}
