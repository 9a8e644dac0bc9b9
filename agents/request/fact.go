package request

import "github.com/callwright/callwright/agents/template"

// Fact is a sentence that tells a model what a variable means: see Mapping.Context.
type Fact struct {
	Variable string
	Text     *template.Template
}

// Facts are the sentences about what the request finds out.
func (s Source) Facts() []Fact {
	var facts []Fact
	for _, m := range s.Variables {
		if m.Context != "" {
			facts = append(facts, Fact{m.Name, template.Parse(m.Context)})
		}
	}
	return facts
}

// Known are the sentences about the variables that have a value, filled in. One that has no variable in it says which
// value it is about.
func Known(facts []Fact, variables map[string]any) []string {
	var known []string
	for _, f := range facts {
		value, ok := template.LookUp(f.Variable, variables)
		if !ok || value == nil {
			continue
		}
		text := f.Text.Render(variables)
		if len(f.Text.Names()) == 0 {
			text += ": " + template.Spoken(value)
		}
		known = append(known, text)
	}
	return known
}
