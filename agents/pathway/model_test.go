package pathway_test

import (
	"errors"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// TestModelOfNodes checks that a node can name only known models. An empty modelName names no model and hides modelType; null counts as
// absent.
func TestModelOfNodes(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(c *pathway.Config) {
		c.Interpreter.Model = llm.Selection{Default: scripted.New(), Others: map[string]llm.Model{"strict": &agentstest.Model{Called: "large-2"}}}
	})
	for options, want := range map[string]string{
		`{"modelName":"strict"}`: "", `{"modelType":"strict"}`: "", `{"modelName":"base"}`: "", `{"modelName":"","modelType":"gpt-9"}`: "",
		`{"modelName":"scripted"}`: "", `{"modelName":null,"modelType":null}`: "",
		`{"modelName":"gpt-9"}`: "modelName", `{"modelName":"large-2"}`: "modelName", `{"modelName":null,"modelType":"smart"}`: "modelType",
	} {
		d := document(`{"id":"a","type":"End Call","data":{"isStart":true,"text":"Bye.","modelOptions":` + options + `}}`)
		_, err := o.Create(t.Context(), "a", pathway.Draft{Name: "P", Document: d})
		e, refused := errors.AsType[*callwright.Error](err)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", options, err)
		case want != "" && (!refused || e.Code != callwright.CodeBadRequest || e.Field != "nodes[0].data.modelOptions."+want ||
			e.Message != "must be a model of this server: base, scripted, strict, turbo"):
			t.Errorf("%s: %v", options, err)
		}
	}
}

// TestModelThatIsGone checks that the default model replaces an unknown model, and that the log reports the unknown model once in each turn
// that would ask it.
func TestModelThatIsGone(t *testing.T) {
	t.Parallel()
	c := newTalk(t, compile(t, nodes(
		node("a", graph.NodeDefault, data{"isStart": true, "prompt": "Greet.", "modelOptions": data{"modelName": "gone"}}),
		node("b", graph.NodeDefault, data{"prompt": "Ask.", "modelOptions": data{"modelName": "strict"}}),
		say("c", nil)), ways("a b", "b c")))
	strict := literal()
	c.interpreter.Model = llm.Selection{Default: literal(), Others: map[string]llm.Model{"strict": strict}}
	const gone = `error a: this server has no model "gone": its default model answers instead`
	c.begins("[Greet.]")
	c.logged(gone, pathway.LogError)
	c.hears("yes", "[Ask.]")
	c.logged("", pathway.LogError)
	if asked := strict.Requests(); len(asked) != 1 || asked[0].Instructions != "Ask." {
		t.Errorf("the other model was asked for %+v", asked)
	}
	c.agent.Model = "gone too"
	c.hears("no", "c.")
	c.logged("", pathway.LogError) // this turn sends no request to a model
}
