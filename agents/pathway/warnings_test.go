package pathway_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// TestWarnings checks that Warnings names the labels that the model never chooses.
func TestWarnings(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	asks := data{"isStart": true, "extractVars": []any{[]any{"wants", "boolean", "whether"}}}
	ends := nodes(say("ask", asks), say("help", data{"isGlobal": true, "globalLabel": "the caller needs help"}),
		say("calm", data{"condition": "the caller is calm"}), node("yes", graph.NodeEnd, nil), node("no", graph.NodeEnd, nil))
	d := graph.Document{Nodes: ends, Edges: ways(
		"ask yes: wants is true", `ask no: wants is "maybe"`, "ask calm: otherwise", "calm yes", "calm no: never asked", "help yes: {{wants}}",
	)}
	got := o.Warnings(d)
	const want = `label of edge "ask>no": "wants is \"maybe\"" never applies, because the variable wants is of the type boolean: compare it with true or false
condition of node "calm": without a language model, "the caller is calm" never applies: ` +
		`quote what the caller says, such as "monday", or compare a variable, such as day is known, wants is true or day is "Tuesday"
globalLabel of node "help": without a language model, "the caller needs help" never applies: ` +
		`quote what the caller says, such as "monday", or compare a variable, such as day is known, wants is true or day is "Tuesday"`
	if strings.Join(got, "\n") != want {
		t.Errorf("warnings\n%s", strings.Join(got, "\n"))
	}
	for i := range 20 {
		d.Edges = append(d.Edges, raw(data{"id": fmt.Sprint("e", i), "source": "help", "target": "yes", "data": data{"label": fmt.Sprint("prose ", i)}}))
	}
	if got := o.Warnings(d); len(got) != pathway.MaxWarnings || got[9] != "14 more of these have no effect" {
		t.Errorf("%d warnings, at last %q", len(got), got[len(got)-1])
	}
	options := graph.Document{Nodes: nodes(say("ask", data{"isStart": true, "modelOptions": data{"interruption_threshold": 300}}))}
	if got := o.Warnings(options); !slices.Equal(got, []string{
		`modelOptions.interruption_threshold of node "ask" has no effect: there is no such member; did you mean interruptionThreshold?`,
	}) {
		t.Errorf("warnings about an option: %q", got)
	}
	if got := o.Warnings(graph.Document{Edges: d.Edges}); got != nil {
		t.Errorf("warnings %q about an invalid document", got)
	}
}
