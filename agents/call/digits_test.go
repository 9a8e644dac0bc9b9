package call_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// TestPressedDigits checks that no record of a call contains a PIN that the agent presses, unless the node has showDigits.
func TestPressedDigits(t *testing.T) {
	t.Parallel()
	const pin = "4711#"
	for name, c := range map[string]struct{ member, line string }{
		"masked": {"", "pressed •••••"},
		"shown":  {`,"showDigits":true`, "pressed " + pin},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := graph.Compile(graph.Document{
				Nodes: []json.RawMessage{
					json.RawMessage(`{"id":"pin","type":"Press Button","data":{"name":"PIN","isStart":true,"digits":"` + pin + `"` + c.member + `}}`),
					json.RawMessage(`{"id":"bye","type":"End Call","data":{"name":"Bye","text":"bye"}}`),
				},
				Edges: []json.RawMessage{
					json.RawMessage(`{"id":"e1","source":"pin","target":"bye","data":{"label":"on","alwaysPick":true}}`),
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			inClinic(t, func(t *testing.T, h *house, l *library, _ *agentstest.Requests) {
				l.change(func() { l.graphs["clinic"][7] = g })
				id := h.order(call.Request{
					Agent: agents.Agent{Pathway: production, Webhook: "https://example.com/"},
					Plan:  call.Plan{Events: everything},
				}).ID
				phone := h.answered()
				h.ended(id)
				waitFor(time.Hour)
				if phone.Pressed() != pin {
					t.Errorf("the other side got %q", phone.Pressed())
				}
				record, transcript, err := h.Get(t.Context(), "a", id)
				if err != nil || len(transcript) != 2 || transcript[1].Text != c.line {
					t.Errorf("the transcript is %+v, %v", transcript, err)
				}
				logs, err := h.Logs(t.Context(), "a", id)
				if err != nil {
					t.Fatal(err)
				}
				all := fmt.Sprintf("%+v %+v %+v %+v", record, transcript, logs, h.noticeTexts())
				if shown := strings.Contains(all, pin); shown != (c.member != "") {
					t.Errorf("digits are shown: %t, in\n%s", shown, all)
				}
			})
		})
	}
}
