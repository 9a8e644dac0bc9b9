package request

import "github.com/callwright/callwright/agents/template"

// Fact is a sentence that explains a variable to a model: see Mapping.Context.
type Fact struct {
	Variable string
	Text     *template.Template
}

// Facts returns the explanations of the variables that the request sets. It omits variables without a Context.
func (s Source) Facts() []Fact {
	var facts []Fact
	for _, m := range s.Variables {
		if m.Context != "" {
			facts = append(facts, Fact{m.Name, template.Parse(m.Context)})
		}
	}
	return facts
}

// Known returns the sentences about the variables that have a value, with variables filled in. If a sentence contains no variable, Known
// appends the value to it. When the byte limit of values is exhausted, it omits the remaining sentences.
func Known(facts []Fact, values *template.Values) []string {
	var known []string
	for _, f := range facts {
		value, ok := values.LookUp(f.Variable)
		if !ok || value == nil || values.Left() == 0 {
			continue
		}
		text := values.Render(f.Text, template.MaxValues)
		if len(f.Text.Names()) == 0 {
			text += ": " + values.Add(values.Text(f.Variable))
		}
		known = append(known, text)
	}
	return known
}
