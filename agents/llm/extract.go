package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// extracting contains the instructions of Extract, which follow the caller's instructions.
const extracting = `Find the fields in what the caller has said. Take only what was said or follows from it without a doubt; ` +
	`write null for a field that was not said, and the last value of one that the caller has corrected. A text is as short ` +
	`as the field needs it: a value, not a sentence.`

// Extract lets a model extract the values of q.Fields. It checks answers and asks again like Ask. If q.Task is empty, it is TaskExtract.
// Extract returns the values that were found: a string, an int64, a float64 or a bool, according to the type of the field. The names of the
// fields must be unique and non-empty, and their types valid; otherwise Extract returns ClassPermanent. Without fields, it does not ask the
// model.
func Extract(ctx context.Context, m Model, q Question) (map[string]any, Usage, error) {
	found := map[string]any{}
	if len(q.Fields) == 0 {
		return found, Usage{}, nil
	}
	if q.Task == "" {
		q.Task = TaskExtract
	}
	names := make([]string, 0, len(q.Fields))
	properties := make([]property, 0, len(q.Fields))
	known := make(map[string]bool, len(q.Fields))
	for _, f := range q.Fields {
		names, known[f.Name] = append(names, f.Name), true
		properties = append(properties, property{f.Name, []byte(`{"type":["` + f.Type + `","null"]}`)})
		if !f.Type.valid() {
			return nil, Usage{}, &Failure{Class: ClassPermanent, Message: "the types of fields must be string, integer, number or boolean"}
		}
	}
	if len(known) < len(names) || known[""] {
		return nil, Usage{}, &Failure{Class: ClassPermanent, Message: "the names of fields must be unique and non-empty"}
	}
	q.Instructions, q.Schema = rules(q.Instructions, extracting), object(properties...)
	usage, err := ask(ctx, m, q, func(_ json.RawMessage, value any) error {
		answer, err := fields(value, names...)
		if err != nil {
			return err
		}
		clear(found)
		for _, f := range q.Fields {
			v, ok := f.value(answer[f.Name])
			if !ok {
				return fmt.Errorf("%q must be of the type %s, or null", f.Name, f.Type)
			}
			if v != nil {
				found[f.Name] = v
			}
		}
		return nil
	})
	if err != nil {
		return nil, usage, err
	}
	return found, usage, nil
}

func (t FieldType) valid() bool {
	switch t {
	case FieldString, FieldInteger, FieldNumber, FieldBoolean:
		return true
	default:
		return false
	}
}

// value returns the value of the field. It returns nil for null, and for a blank text, which some models write instead of null. ok is false
// if the value has another type.
func (f Field) value(v any) (found any, ok bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		if text := strings.TrimSpace(Clean(v)); text != "" {
			found = text
		}
		return found, f.Type == FieldString
	case bool:
		return v, f.Type == FieldBoolean
	case json.Number:
		return f.number(v)
	default:
		return nil, false
	}
}

// number converts a number to the type of the field, or returns false if it does not fit the type. An integer may be written as 5.0 or 5e0.
func (f Field) number(n json.Number) (any, bool) {
	if whole, err := n.Int64(); err == nil && f.Type == FieldInteger {
		return whole, true
	}
	v, err := n.Float64()
	switch {
	case err != nil:
		return nil, false
	case f.Type == FieldNumber:
		return v, true
	case f.Type == FieldInteger && v == math.Trunc(v) && math.Abs(v) <= 1<<53:
		return int64(v), true
	default:
		return nil, false
	}
}
