package prompted

import "github.com/callwright/callwright/agents/template"

// Fill puts variables in the place of {{name}} in a text: see template.Template.
func Fill(text string, variables map[string]any) string {
	return template.Parse(text).Render(variables)
}
