package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
)

// Decode reads a scenario that a client has written in the JSON of the /v1 contract, which the API, files, the database and the
// dashboard share; json.Marshal writes it. Members that are left out have the contract's defaults, as far as SetDefaults does not
// fill them in. The error is callwright.FieldErrors: a member is unknown or has another type. Decode does not check the scenario.
// What was stored is read by json.Unmarshal, which ignores the members of later versions.
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

// DecodeAssertions reads the assertions of a scenario. One without an order has its place in the list.
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

// DecodePatch reads a change of a scenario: Decode has the errors. A member that is null gets its default.
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

// change changes a member that is given.
func change[T any](given map[string]json.RawMessage, name string, value T) callwright.Optional[T] {
	if given[name] == nil {
		return callwright.Optional[T]{}
	}
	return callwright.Given(value)
}

// each decodes the items of a list, each into its defaults. A nil list stays nil.
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

// within returns the errors of a part with its place.
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

// Strictly decodes JSON and refuses members that are unknown. The error is callwright.FieldErrors.
func Strictly(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return callwright.FieldErrors{callwright.Invalid(strings.TrimPrefix(wrong.Field, "Scenario."), "must not be a %s", wrong.Value)}
	}
	if err == nil {
		return nil
	}
	message := strings.TrimPrefix(err.Error(), "json: ")
	name, _ := strconv.Unquote(strings.TrimPrefix(message, "unknown field "))
	return callwright.FieldErrors{callwright.Invalid(name, "%s", message)}
}

// speakers are the roles of messages by their names on the wire. Check refuses any other role.
var speakers = map[llm.Role]llm.Role{"user": llm.RoleCaller, "assistant": llm.RoleAgent}

// messageJSON is a Message on the wire.
type messageJSON struct {
	Role    llm.Role `json:"role"`
	Text    string   `json:"content"`
	Node    string   `json:"node_id,omitempty"`
	Keyword string   `json:"keyword,omitempty"`
}

// MarshalJSON returns the message as the contract has it.
func (m Message) MarshalJSON() ([]byte, error) {
	out := messageJSON(m)
	for name, role := range speakers {
		if role == m.Role {
			out.Role = name
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reverses MarshalJSON.
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

// mockJSON is a WebhookMock on the wire.
type mockJSON struct {
	Node   string          `json:"node_id,omitempty"`
	Method string          `json:"method,omitempty"`
	URL    string          `json:"url,omitempty"`
	Status int             `json:"status,omitzero"`
	Body   json.RawMessage `json:"body,omitempty"`
	Delay  time.Duration   `json:"delay_ms,omitzero"` // in milliseconds
	Fault  Fault           `json:"fault,omitempty"`
}

// MarshalJSON returns the mock as the contract has it.
func (m WebhookMock) MarshalJSON() ([]byte, error) {
	out := mockJSON(m)
	out.Delay /= time.Millisecond
	return json.Marshal(out)
}

// UnmarshalJSON reverses MarshalJSON.
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
