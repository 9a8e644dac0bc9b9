package request

import "github.com/callwright/callwright/agents/template"

// Fact is a sentence that tells a model what a variable means: see Mapping.Context.
type Fact struct {
	Variable string
	Text     *template.Template
}

// Facts returns the facts about the variables that the request gives.
func (s Source) Facts() []Fact {
	var facts []Fact
	for _, m := range s.Variables {
		if m.Context != "" {
			facts = append(facts, Fact{m.Name, template.Parse(m.Context)})
		}
	}
	return facts
}

// Known returns the sentences about those variables that have a value, with variables filled in. A sentence without a
// variable gets the value appended.
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
