package call_test

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// TestModelsThatAreGone checks a call whose agent and pathway name models that the configuration no longer contains: the call continues,
// its log names each missing model once, and the logs of the turns name the models that answered.
func TestModelsThatAreGone(t *testing.T) {
	t.Parallel()
	g, err := graph.Compile(graph.Document{
		Nodes: []json.RawMessage{
			json.RawMessage(`{"id":"hi","type":"Default","data":{"isStart":true,"prompt":"Greet.","modelOptions":{"modelType":"gone"}}}`),
			json.RawMessage(`{"id":"bye","type":"End Call","data":{"text":"bye","modelOptions":{"modelName":"base"}}}`),
		},
		Edges: []json.RawMessage{json.RawMessage(`{"id":"e","source":"hi","target":"bye","data":{"label":"on","alwaysPick":true}}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	logged := &lines{}
	inClinic(t, func(t *testing.T, h *house, l *library, _ *agentstest.Requests) {
		l.change(func() { l.graphs["clinic"][7] = g })
		c := h.order(call.Request{Agent: agents.Agent{Pathway: production, Model: "gone too"}})
		h.ended(c.ID)
		for _, name := range []string{"gone", "gone too"} {
			n := 0
			for line := range strings.SplitSeq(logged.all(), "\n") {
				if strings.Contains(line, strconv.Quote(llm.Missing(name))) {
					n++
					if !strings.Contains(line, "call_id="+c.ID) {
						t.Errorf("logged %s", line)
					}
				}
			}
			if n != 1 {
				t.Errorf("%q is logged %d times: %s", name, n, logged.all())
			}
		}
		logs, err := h.Logs(t.Context(), "a", c.ID)
		if err != nil || len(logs) == 0 || !slices.ContainsFunc(logs[0].Entries, func(e pathway.LogEntry) bool { return e.Text == llm.Missing("gone") }) {
			t.Errorf("the first turn's log is %+v, %v", logs, err)
		}
	}, func(c *call.Config) { c.Logger = slog.New(slog.NewTextHandler(logged, nil)) })
}
