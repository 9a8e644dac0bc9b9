package agentstest

import (
	"encoding/json"
	"testing"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/callwrighttest"
)

// agentSecrets are the secrets of secretAgent. Their lengths are multiples of 3, so that their base64 is found at any offset.
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

func encryptsCall(t *testing.T, s call.Store, atRest callwrighttest.AtRest[call.Store]) {
	c := aCall(callwrighttest.VisibleID, "a")
	c.Agent = secretAgent()
	atRest.Check(t, s, func() error {
		if err := s.Insert(t.Context(), c); err != nil {
			return err
		}
		return s.Update(t.Context(), c)
	}, agentSecrets...)
}

func encryptsWebAgent(t *testing.T, s agents.WebAgents, atRest callwrighttest.AtRest[agents.WebAgents]) {
	a := agents.WebAgent{ID: callwrighttest.VisibleID, Org: "a", Agent: secretAgent(), CreatedAt: at, UpdatedAt: at, Version: 1}
	atRest.Check(t, s, func() error {
		if err := s.InsertAgent(t.Context(), a); err != nil {
			return err
		}
		return s.UpdateAgent(t.Context(), a)
	}, agentSecrets...)
}

func encryptsNumber(t *testing.T, s agents.NumberStore, atRest callwrighttest.AtRest[agents.NumberStore]) {
	n := aNumber("+15550000001")
	n.Org, n.Agent = callwrighttest.VisibleID, secretAgent()
	atRest.Check(t, s, func() error {
		if err := s.InsertNumber(t.Context(), n); err != nil {
			return err
		}
		return s.UpdateNumber(t.Context(), n)
	}, agentSecrets...)
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
