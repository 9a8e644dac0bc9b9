package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxReason bounds a choice's reason in bytes.
const maxReason = 1000

// choosing contains the instructions of Choose, which follow the caller's instructions.
const choosing = `Choose the one option that is right at this point of the conversation. The label of an option says in a few ` +
	`words when it is the right one, its description says more; one with a condition is right only when that is met too. ` +
	`What the caller has said last decides; what was said before only helps to understand it. An option that is marked as ` +
	`otherwise is right when no other is. Write the reason first, in one sentence, then the id of the option.`

// Choose lets a model choose one of q.Options. It checks answers and asks again like Ask. If q.Task is empty, it is TaskRoute. Choose
// returns ClassPermanent if there are no options, or if their ids are not unique and non-empty.
func Choose(ctx context.Context, m Model, q Question) (Choice, Usage, error) {
	if q.Task == "" {
		q.Task = TaskRoute
	}
	ids := make([]string, 0, 16) // a small capacity, which usually stays on the stack
	known := make(map[string]bool, len(q.Options))
	for _, o := range q.Options {
		ids = append(ids, o.ID)
		known[o.ID] = true
	}
	if len(ids) == 0 || len(known) < len(ids) || known[""] {
		return Choice{}, Usage{}, &Failure{Class: ClassPermanent, Message: "the ids of options must be unique and non-empty"}
	}
	q.Instructions = rules(q.Instructions, choosing)
	q.Schema = object(property{"reason", aText}, property{"option", oneOf(ids)})
	var choice Choice
	usage, err := ask(ctx, m, q, func(_ json.RawMessage, value any) error {
		answer, err := fields(value, "reason", "option")
		if err != nil {
			return err
		}
		reason, isText := answer["reason"].(string)
		option, isID := answer["option"].(string)
		if !isText || !isID || !known[option] {
			return fmt.Errorf("option must be one of %q, and reason must be a string", slices.Sorted(maps.Keys(known)))
		}
		choice = Choice{Option: option, Reason: clip(Clean(reason), maxReason)}
		return nil
	})
	return choice, usage, err
}

// rules joins the instructions of the question and the instructions of this package.
func rules(instructions, ours string) string {
	if strings.TrimSpace(instructions) == "" {
		return ours
	}
	return instructions + "\n\n" + ours
}

// property is a property of an object schema.
type property struct {
	name   string
	schema []byte
}

// aText is the schema of a string.
var aText = []byte(`{"type":"string"}`)

// oneOf returns the schema of a string that must be in the list.
func oneOf(list []string) []byte {
	b := append(make([]byte, 0, 64+12*len(list)), `{"type":"string","enum":`...)
	return append(appendTexts(b, list), '}')
}

// object returns the schema of an object with exactly these properties. Models write the properties in this order.
func object(properties ...property) json.RawMessage {
	b := append(make([]byte, 0, 512), `{"type":"object","properties":{`...)
	for i, p := range properties {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(appendText(b, p.name), ':'), p.schema...)
	}
	b = append(b, `},"required":[`...)
	for i, p := range properties {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, p.name)
	}
	return append(b, `],"additionalProperties":false}`...)
}

// appendTexts appends a list of texts as a JSON array.
func appendTexts(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, text := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, text)
	}
	return append(b, ']')
}

// appendText appends a text as a JSON string.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return append(b, encode(text)...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// encode returns the JSON of a value of this package. It panics on an error, because these values can always be encoded.
func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// fields returns value as an object. It returns an error unless value is an object with exactly the given names.
func fields(value any, names ...string) (map[string]any, error) {
	answer, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the answer must be an object with %q", names)
	}
	for _, name := range names {
		if _, ok := answer[name]; !ok {
			return nil, fmt.Errorf("the answer must contain %q", name)
		}
	}
	if len(answer) > len(names) {
		return nil, fmt.Errorf("the answer must contain only %q", names)
	}
	return answer, nil
}
