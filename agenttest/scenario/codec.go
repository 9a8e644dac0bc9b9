package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
)

// Decode decodes a scenario that a client has written in the JSON of the /v1 contract. The API, files, the database and the dashboard share
// this form, which json.Marshal encodes. Absent members have the contract's defaults, except those that SetDefaults fills in. Decode
// returns callwright.FieldErrors if raw is invalid JSON, or if a member is unknown or has another type. It does not check the scenario
// further: see Check. Stored scenarios are decoded by json.Unmarshal, which ignores members of later versions.
func Decode(raw []byte) (Scenario, error) {
	var s struct {
		Scenario

		Messages   []json.RawMessage `json:"input_messages"`
		Webhooks   []json.RawMessage `json:"webhook_mocks"`
		Assertions json.RawMessage   `json:"assertions"`
	}
	s.Enabled = true
	if err := Strictly(raw, &s); err != nil {
		return Scenario{}, err
	}
	var wrong callwright.FieldErrors
	sc := s.Scenario
	sc.Messages = each("input_messages", s.Messages, func(int) (m messageJSON) { return m }, messageJSON.message, &wrong)
	sc.Webhooks = each("webhook_mocks", s.Webhooks, func(int) (m mockJSON) { return m }, mockJSON.mock, &wrong)
	var err error
	if len(s.Assertions) > 0 {
		sc.Assertions, err = DecodeAssertions(s.Assertions)
	}
	return sc, append(wrong, within("", err)...).OrNil()
}

// DecodeAssertions decodes the assertions of a scenario. The default Order of an assertion is its index in the list. It returns the same
// errors as Decode.
func DecodeAssertions(raw []byte) ([]assert.Assertion, error) {
	var items []json.RawMessage
	if err := Strictly(raw, &items); err != nil {
		return nil, within("assertions", err)
	}
	var wrong callwright.FieldErrors
	defaults := func(i int) assert.Assertion { return assert.Assertion{Required: true, Weight: 1, Order: i} }
	all := each("assertions", items, defaults, func(a assert.Assertion) assert.Assertion { return a }, &wrong)
	return all, wrong.OrNil()
}

// DecodePatch decodes a change of a scenario. A null member resets a field to its default. It returns the same errors as Decode.
func DecodePatch(raw []byte) (Patch, error) {
	s, err := Decode(raw)
	if err != nil {
		return Patch{}, err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return Patch{}, err
	}
	return Patch{
		Name: change(given, "name", s.Name), Description: change(given, "description", s.Description),
		Category: change(given, "category", s.Category), Kind: change(given, "scenario_type", s.Kind),
		CallerPrompt: change(given, "tester_persona_prompt", s.CallerPrompt), CallerName: change(given, "tester_persona_name", s.CallerName),
		Instructions: change(given, "advanced_instructions", s.Instructions), Messages: change(given, "input_messages", s.Messages),
		MaxTurns: change(given, "max_turns", s.MaxTurns), RequestData: change(given, "request_data", s.RequestData),
		StartNode: change(given, "start_node_id", s.StartNode), Webhooks: change(given, "webhook_mocks", s.Webhooks),
		ScoreTone: change(given, "service_tone_enabled", s.ScoreTone), Required: change(given, "is_required_for_promotion", s.Required),
		Enabled:    change(given, "enabled", s.Enabled),
		MinScore:   callwright.Optional[float64]{Set: given["min_score"] != nil, Value: s.MinScore},
		Assertions: change(given, "assertions", s.Assertions), Metadata: change(given, "metadata", s.Metadata),
	}, nil
}

// change returns value if the member is given, else an Optional that is not Set.
func change[T any](given map[string]json.RawMessage, name string, value T) callwright.Optional[T] {
	if given[name] == nil {
		return callwright.Optional[T]{}
	}
	return callwright.Given(value)
}

// each decodes the items of a list, starting from the defaults of each item. It appends errors to wrong. A nil list stays nil.
func each[J, T any](name string, items []json.RawMessage, defaults func(i int) J, convert func(J) T, wrong *callwright.FieldErrors) []T {
	if items == nil {
		return nil
	}
	list := make([]T, len(items))
	for i, raw := range items {
		one := defaults(i)
		*wrong = append(*wrong, within(fmt.Sprintf("%s[%d]", name, i), Strictly(raw, &one))...)
		list[i] = convert(one)
	}
	return list
}

// within returns the errors of a part with place prepended to their fields.
func within(place string, err error) callwright.FieldErrors {
	list, ok := errors.AsType[callwright.FieldErrors](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		list = callwright.FieldErrors{callwright.Invalid("", "%s", err.Error())}
	}
	if place == "" {
		return list
	}
	return list.Within(place)
}

// Strictly decodes JSON. It returns callwright.FieldErrors for unknown members, other types and invalid JSON.
func Strictly(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return callwright.FieldErrors{callwright.Invalid(strings.TrimPrefix(wrong.Field, "Scenario."), "must be %s", kindOf(wrong.Type))}
	}
	if err == nil {
		return nil
	}
	message := strings.TrimPrefix(err.Error(), "json: ")
	name, _ := strconv.Unquote(strings.TrimPrefix(message, "unknown field "))
	return callwright.FieldErrors{callwright.Invalid(name, "%s", message)}
}

// kindOf returns the JSON form of a Go type for error messages, with an article.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "an integer"
	}
}

// speakers maps the role names of the contract to the roles of messages. Check refuses other roles.
var speakers = map[llm.Role]llm.Role{"user": llm.RoleCaller, "assistant": llm.RoleAgent}

// messageJSON is the JSON form of a Message.
type messageJSON struct {
	Role    llm.Role `json:"role"`
	Text    string   `json:"content"`
	Node    string   `json:"node_id,omitempty"`
	Keyword string   `json:"keyword,omitempty"`
}

// MarshalJSON returns the message in the form of the contract.
func (m Message) MarshalJSON() ([]byte, error) {
	out := messageJSON(m)
	for name, role := range speakers {
		if role == m.Role {
			out.Role = name
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON decodes a message in the form of the contract.
func (m *Message) UnmarshalJSON(raw []byte) error {
	var in messageJSON
	err := json.Unmarshal(raw, &in)
	*m = in.message()
	return err
}

func (j messageJSON) message() Message {
	if role, known := speakers[j.Role]; known {
		j.Role = role
	}
	return Message(j)
}

// mockJSON is the JSON form of a WebhookMock.
type mockJSON struct {
	Node   string          `json:"node_id,omitempty"`
	Method string          `json:"method,omitempty"`
	URL    string          `json:"url,omitempty"`
	Status int             `json:"status,omitzero"`
	Body   json.RawMessage `json:"body,omitempty"`
	Delay  time.Duration   `json:"delay_ms,omitzero"` // milliseconds, not nanoseconds
	Fault  Fault           `json:"fault,omitempty"`
}

// MarshalJSON returns the mock in the form of the contract.
func (m WebhookMock) MarshalJSON() ([]byte, error) {
	out := mockJSON(m)
	out.Delay /= time.Millisecond
	return json.Marshal(out)
}

// UnmarshalJSON decodes a mock in the form of the contract.
func (m *WebhookMock) UnmarshalJSON(raw []byte) error {
	var in mockJSON
	err := json.Unmarshal(raw, &in)
	*m = in.mock()
	return err
}

func (j mockJSON) mock() WebhookMock {
	j.Delay *= time.Millisecond //nolint:durationcheck // it counts milliseconds on the wire
	return WebhookMock(j)
}
