package agentstest

import (
	"encoding/json"
	"testing"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/callwrighttest"
)

// agentSecrets lists the secrets that secretAgent contains. Their lengths are multiples of 3, so that a search finds their base64 form at
// any offset.
var agentSecrets = []string{"hunter2-tool", "hunter2-url-", "hunter2-head", "hunter2-query-1", "hunter2-body", "hunter2-hook"}

// secretAgent returns an agent with a secret in each encrypted field.
func secretAgent() agents.Agent {
	a := fullAgent()
	a.Webhook = "https://example.com/hunter2-hook"
	a.Tools = []json.RawMessage{json.RawMessage(`{"name":"x","headers":{"Authorization":"hunter2-tool"}}`)}
	a.DynamicData = []agents.DynamicData{{
		URL:     "https://x.example/hunter2-url-",
		Headers: []request.Pair{{Name: "Authorization", Value: "hunter2-head"}},
		Query:   []request.Pair{{Name: "key", Value: "hunter2-query-1"}},
		Body:    []request.Pair{{Name: "key", Value: "hunter2-body"}},
	}}
	return a
}

func encryptsPathway(t *testing.T, s pathway.Store, atRest callwrighttest.AtRest[pathway.Store]) {
	p, v := aPathway(callwrighttest.VisibleID, "a"), aVersion("a", callwrighttest.VisibleID, 1)
	p.Draft = graph.Document{
		Nodes: raws(`{"id":"a","data":{"headers":{"Authorization":"hunter2-node"}}}`), Edges: raws(`{"id":"hunter2-edge"}`),
	}
	v.Document = p.Draft
	atRest.Check(t, s, func() error {
		for _, err := range []error{
			s.InsertPathway(t.Context(), p), s.UpdatePathway(t.Context(), p), s.InsertVersion(t.Context(), v),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	}, "hunter2-node", "hunter2-edge")
}
