package join_test

import (
	"testing"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

func TestResolversConform(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, id := range []string{"c1", "c2"} {
		h.seed(call.Call{ID: id, From: "+15550000001", To: "+15550000002", Queue: call.QueueComplete})
	}
	pathways := []string{h.draw(nil, nil).ID, h.draw(nil, nil).ID}
	for name, test := range map[string]struct {
		resolver triage.ResourceResolver
		ids      []string
	}{"calls": {h.calls, []string{"c1", "c2"}}, "pathways": {h.pathways, pathways}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			triagetest.RunResourceResolver(t, triagetest.ResolverHarness{Resolver: test.resolver, Org: org, Other: "b", IDs: test.ids})
		})
	}
}
