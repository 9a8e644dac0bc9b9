package agentstest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// AtRest returns everything that a store has written to where it outlives the process: every column of a database, or every
// byte of its files. The suites look in it for what must be encrypted. A store that keeps everything in memory has no AtRest.
type AtRest[S any] func(t *testing.T, s S) []byte

// visible is in the ids of what check stores, so that it can tell that an AtRest returns what is stored.
const visible = "visible-id"

// check stores something and looks for secrets in what is at rest then.
func (f AtRest[S]) check(t *testing.T, s S, store func() error, secrets ...string) {
	t.Helper()
	if f == nil { // a store in memory
		return // the store keeps nothing beyond the process
	}
	if err := store(); err != nil {
		t.Fatal(err)
	}
	raw := f(t, s)
	if !bytes.Contains(raw, []byte(visible)) {
		t.Fatalf("what is at rest, %d bytes, has nothing of what was stored", len(raw))
	}
	for _, secret := range secrets {
		for form, text := range map[string]string{
			"plain text": secret, "hexadecimal": hex.EncodeToString([]byte(secret)), "base64": base64.RawStdEncoding.EncodeToString([]byte(secret)),
		} {
			if bytes.Contains(raw, []byte(text)) {
				t.Errorf("%q is at rest in %s", secret, form)
			}
		}
	}
}

// agentSecrets are the secrets of secretAgent. Their lengths are multiples of 3, so that base64 shows them wherever they stand.
var agentSecrets = []string{"hunter2-tool", "hunter2-url-", "hunter2-head", "hunter2-query-1", "hunter2-body", "hunter2-hook"}

// secretAgent returns an agent with a secret in everything that stores encrypt.
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

func encryptsCall(t *testing.T, s call.Store, atRest AtRest[call.Store]) {
	c := aCall(visible, "a")
	c.Agent = secretAgent()
	atRest.check(t, s, func() error {
		if err := s.Insert(t.Context(), c); err != nil {
			return err
		}
		return s.Update(t.Context(), c)
	}, agentSecrets...)
}

func encryptsWebAgent(t *testing.T, s agents.WebAgents, atRest AtRest[agents.WebAgents]) {
	a := agents.WebAgent{ID: visible, Org: "a", Agent: secretAgent(), CreatedAt: at, UpdatedAt: at, Version: 1}
	atRest.check(t, s, func() error {
		if err := s.InsertAgent(t.Context(), a); err != nil {
			return err
		}
		return s.UpdateAgent(t.Context(), a)
	}, agentSecrets...)
}

func encryptsNumber(t *testing.T, s agents.Store, atRest AtRest[agents.Store]) {
	n := aNumber("+15550000001")
	n.Org, n.Agent = visible, secretAgent()
	atRest.check(t, s, func() error {
		if err := s.InsertNumber(t.Context(), n); err != nil {
			return err
		}
		return s.UpdateNumber(t.Context(), n)
	}, agentSecrets...)
}

func encryptsPathway(t *testing.T, s pathway.Store, atRest AtRest[pathway.Store]) {
	p, v := aPathway(visible, "a"), aVersion("a", visible, 1)
	p.Draft = graph.Document{
		Nodes: raws(`{"id":"a","data":{"headers":{"Authorization":"hunter2-node"}}}`), Edges: raws(`{"id":"hunter2-edge"}`),
	}
	v.Document = p.Draft
	atRest.check(t, s, func() error {
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
