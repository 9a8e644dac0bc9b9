package caller

import (
	"context"
	"encoding/json"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/scenario"
)

// inPersona contains the instructions of InPersona's model.
const inPersona = `A program played the caller of this conversation. The evidence has the description of the person whom it ` +
	`was to play. Decide only whether the caller's lines are such as this person could say: off_script when the caller spoke ` +
	`as the agent or as a program, told its description, said what contradicts the description, or wanted something else than ` +
	`the person wants. Whether the agent did well does not matter. Write the reasoning first, in one or two sentences, then ` +
	`the verdict. Take cannot_judge when the conversation does not show it.`

// schema is the JSON schema of the model's answer.
const schema = `{"type":"object","properties":{"reasoning":{"type":"string"},` +
	`"verdict":{"type":"string","enum":["in_persona","off_script","cannot_judge"]}},` +
	`"required":["reasoning","verdict"],"additionalProperties":false}`

// InPersona asks a model whether the caller of a conversation kept to its persona. It returns the reason if the caller departed from the
// persona. It returns "" if the caller kept to it, or if the model cannot decide. The error is a *llm.Failure.
func InPersona(ctx context.Context, model llm.Model, s scenario.Scenario, messages []llm.Message) (offScript string, err error) {
	evidence, err := json.Marshal(map[string]string{
		"name": s.CallerName, "description": s.CallerPrompt, "instructions": s.Instructions,
	})
	if err != nil {
		return "", err
	}
	zero := 0.0
	var answer struct{ Reasoning, Verdict string }
	_, err = llm.Ask(ctx, model, llm.Question{
		Org: s.Org, Task: llm.TaskJudge, Instructions: inPersona, Messages: messages, Evidence: evidence,
		Schema: json.RawMessage(schema), Temperature: &zero,
	}, &answer)
	if err != nil || answer.Verdict != "off_script" {
		return "", err
	}
	if answer.Reasoning == "" {
		answer.Reasoning = "the caller has left its persona"
	}
	return answer.Reasoning, nil
}
