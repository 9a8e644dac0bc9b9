package pathway

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/template"
)

// MaxWarnings bounds the texts that Service.Warnings returns, and MaxWarning the characters of each text.
const (
	MaxWarnings = 10
	MaxWarning  = 1000
)

// Warnings returns human-readable warnings about a document: members of modelOptions that have no effect (see
// graph.Document.UnusedOptions), and labels, descriptions and conditions by which the model can never choose a way,
// because it is not a language model (see llm.Limited). The model is the one that the node names, or the default model. Warnings returns
// none for an invalid document. Beyond MaxWarnings, the last text contains the number of the others.
func (s *Service) Warnings(d graph.Document) []string {
	g, err := graph.Compile(d)
	if err != nil {
		return nil
	}
	list := unusedOptions(d)
	fields := typedVariables(g)
	add := func(n *graph.Node, place string, label, description, condition *template.Template, name string) {
		for _, t := range []*template.Template{label, description, condition} {
			if t != nil && len(t.Names()) > 0 {
				return // the values of variables decide
			}
		}
		o := llm.Option{Label: cmp.Or(textOf(label), name), Description: textOf(description), Condition: textOf(condition)}
		if why := llm.Unchosen(s.cfg.Interpreter.Model, n.Model, o, fields); why != "" {
			list = append(list, callwright.Clip(place+": "+why, MaxWarning))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(g.Nodes)) {
		n := g.Nodes[id]
		if n.Global {
			add(n, fmt.Sprintf("globalLabel of node %q", n.ID), n.Label, n.Description, nil, n.Name)
		}
		switch {
		case !slices.ContainsFunc(n.Edges, func(e *graph.Edge) bool { return e.Always }):
			for _, e := range n.Edges {
				add(n, fmt.Sprintf("label of edge %q", e.ID), e.Label, e.Description, n.Condition, e.To.Name)
			}
		case textOf(n.Condition) != "":
			add(n, fmt.Sprintf("condition of node %q", n.ID), n.Condition, nil, nil, "")
		}
	}
	if more := len(list) - MaxWarnings; more > 0 {
		list = append(list[:MaxWarnings-1], fmt.Sprintf("%d more of these have no effect", more+1))
	}
	return list
}

// unusedOptions returns a warning about each member of modelOptions that has no effect.
func unusedOptions(d graph.Document) (list []string) {
	for _, o := range d.UnusedOptions() {
		list = append(list, callwright.Clip(fmt.Sprintf("modelOptions.%s of node %q has no effect: %s", o.Name, o.Node, o.Why), MaxWarning))
	}
	return list
}

// typedVariables returns the variables that nodes of a graph extract. It omits a variable that nodes extract with different types.
func typedVariables(g *graph.Graph) []llm.Field {
	types := map[string]llm.FieldType{}
	for _, n := range g.Nodes {
		for _, f := range n.Extract {
			if t, known := types[f.Name]; known && t != f.Type {
				f.Type = ""
			}
			types[f.Name] = f.Type
		}
	}
	var fields []llm.Field
	for name, t := range types {
		if t != "" {
			fields = append(fields, llm.Field{Name: name, Type: t})
		}
	}
	return fields
}

// textOf returns the trimmed text of a template, or "" if the template is nil.
func textOf(t *template.Template) string {
	if t == nil {
		return ""
	}
	return strings.TrimSpace(t.Text())
}
