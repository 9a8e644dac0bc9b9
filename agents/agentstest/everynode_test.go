package agentstest_test

import (
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// TestEveryNode checks that the pathway compiles without faults and contains every type of node.
func TestEveryNode(t *testing.T) {
	t.Parallel()
	g, err := graph.Compile(agentstest.EveryNode("http://127.0.0.1:1234"))
	if err != nil {
		t.Fatal(err)
	}
	types := map[graph.NodeType]int{}
	for _, n := range g.Nodes {
		types[n.Type]++
	}
	for _, want := range []graph.NodeType{
		graph.NodeDefault, graph.NodeEnd, graph.NodeTransfer, graph.NodeKnowledge, graph.NodeWebhook,
		graph.NodeWait, graph.NodePress,
	} {
		if types[want] == 0 {
			t.Errorf("there is no node of type %s", want)
		}
	}
	slots, tools := g.Node("slots"), g.Node("bicycles").Tools
	if got := slots.Request.Source().URL; got != "http://127.0.0.1:1234/slots" {
		t.Errorf("the webhook goes to %s", got)
	}
	if len(tools.Definitions()) != 1 || tools.URLs()[0] != "http://127.0.0.1:1234/customers" {
		t.Errorf("the tools are %+v at %v", tools.Definitions(), tools.URLs())
	}
	if len(g.Globals) != 3 || g.Start.ID != "welcome" || slots.Branches[0].To != g.Node("time") {
		t.Errorf("%d globals, start %s, branch to %v", len(g.Globals), g.Start.ID, slots.Branches[0].To)
	}
}
