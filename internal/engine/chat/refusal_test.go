package chat_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// TestRefusalsOfSchemas checks which refusal concerns which questions, and that it is tried again after an hour: the schema of one
// organization does not turn off the mode for others.
func TestRefusalsOfSchemas(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		refusal chat.ServiceError
		other   bool // whether another schema is still asked in the mode
	}{
		"a schema":          {chat.ServiceError{Status: 400, Message: "Invalid schema for response_format 'answer': minLength is not permitted"}, true},
		"an unknown reason": {chat.ServiceError{Status: 400, Message: "bad request"}, true},
		"a grammar":         {chat.ServiceError{Status: 500, Message: "the grammar cannot be compiled"}, true},
		"the mode":          {chat.ServiceError{Status: 400, Message: "response_format json_schema is not supported by this model"}, false},
		"its parameter":     {chat.ServiceError{Status: 422, Param: "response_format", Message: "unsupported value"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var r chat.Refusals[struct{}]
				odd, plain := json.RawMessage(`{"odd":1}`), json.RawMessage(`{"plain":1}`)
				inMode := func(schema json.RawMessage, refuse bool) (asked bool) {
					_, err := r.Answer(schema, func(strict bool) (llm.Answer, error) {
						if asked = asked || strict; strict && refuse {
							return llm.Answer{}, &tt.refusal
						}
						return llm.Answer{}, nil
					})
					if err != nil {
						t.Error(err)
					}
					return asked
				}
				if !inMode(odd, true) || inMode(odd, true) {
					t.Error("the refused schema is not asked once")
				}
				if got := inMode(plain, false); got != tt.other {
					t.Errorf("another schema is asked in the mode: %t", got)
				}
				time.Sleep(time.Hour)
				if !inMode(odd, false) || !inMode(plain, false) {
					t.Error("an hour later, the mode is not tried again")
				}
			})
		})
	}
}

// TestRefusedModes checks that only a refusal of the mode turns the mode off. A refusal that quotes the names in a schema does not.
func TestRefusedModes(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{ // whether another schema is still asked in the mode
		`* GenerateContentRequest.generation_config.response_schema.properties[unknown].enum[0]: cannot be empty`: true,
		`GenerateContentRequest.generation_config.response_schema.properties[a].type: must be specified`:          true,
		`1 validation error: response_format.json_schema.schema.properties.unsupported: type must be string`:      true,
		`response_format.json_schema.schema: property 'x' must be an object`:                                      true,
		`response_format.json_schema.schema: property 'response_format' is not supported`:                         true,
		`'response_format': structured output schema keyword 'pattern' is not supported`:                          true,
		`response_format: property names must be strings of at most 64`:                                           true,
		`Unknown name "const" at 'generation_config.response_schema': Cannot find field.`:                         true,
		`Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.`:            false,
		`This response_format type is unavailable now`:                                                            false,
		`'response_format.type' must be 'text' or 'json_object'`:                                                  false,
		`Unsupported parameter: 'response_format'`:                                                                false,
		`The model does not support structured outputs`:                                                           false,
		`property 'response_format' is unsupported`:                                                               false,
		`output_config.format: Extra inputs are not permitted`:                                                    false,
		`Unknown name "responseMimeType" at 'generation_config': Cannot find field.`:                              false,
	} {
		var r chat.Refusals[struct{}]
		asked := false
		ask := func(strict bool) (llm.Answer, error) {
			if asked = strict; strict {
				return llm.Answer{}, refuse(message)
			}
			return llm.Answer{}, nil
		}
		if _, err := r.Answer(json.RawMessage(`{"odd":1}`), ask); err != nil {
			t.Error(err)
		}
		_, err := r.Answer(json.RawMessage(`{"plain":1}`), func(strict bool) (llm.Answer, error) {
			asked = strict
			return llm.Answer{}, nil
		})
		if err != nil || asked != want {
			t.Errorf("%s: another schema is asked in the mode: %t, %v", message, asked, err)
		}
	}
}

// TestManyRefusedSchemas checks that a refused schema beyond the maximum number replaces only the oldest schema.
func TestManyRefusedSchemas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r chat.Refusals[struct{}]
		inMode := func(schema int) (asked bool) {
			_, err := r.Answer(json.RawMessage(strconv.Itoa(schema)), func(strict bool) (llm.Answer, error) {
				if asked = asked || strict; strict {
					return llm.Answer{}, &chat.ServiceError{Status: http.StatusBadRequest, Message: "Invalid schema"}
				}
				return llm.Answer{}, nil
			})
			if err != nil {
				t.Error(err)
			}
			return asked
		}
		for i := range 1001 {
			inMode(i)
			time.Sleep(time.Millisecond)
		}
		if inMode(1) || inMode(1000) {
			t.Error("a newer schema is asked again")
		}
		if !inMode(0) {
			t.Error("the oldest schema is not asked again")
		}
	})
}

// odd is a request with members that may be left out. If wrong is set, the service refuses the request in any form.
type odd struct{ temperature, effort, wrong bool }

// oddMembers lists the members of odd.
var oddMembers = []chat.Member[odd]{
	{Name: "temperature", Meaning: regexp.MustCompile(`(?i)temperature`), Omit: func(o *odd) bool {
		had := o.temperature
		o.temperature = false
		return had
	}},
	{Name: "effort", Meaning: regexp.MustCompile(`(?i)effort`), Omit: func(o *odd) bool {
		had := o.effort
		o.effort = false
		return had
	}},
}

// refuse returns the error of a service with a message.
func refuse(message string) error {
	err := chat.NewServiceError([]byte(`{"message":` + strconv.Quote(message) + `}`))
	err.Status = http.StatusBadRequest
	return err
}

// post sends a request to a service, which returns nil if it accepts the request.
func post(r *chat.Refusals[odd], body odd, service func(odd) error) error {
	response, err := r.Post(body, func(o odd) (*http.Response, error) { return &http.Response{Body: http.NoBody}, service(o) })
	return errors.Join(err, response.Body.Close())
}

// TestRefusedMembersOfOneOrganization checks that a request that the service refuses in any form does not change other requests.
func TestRefusedMembersOfOneOrganization(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]int{ // number of requests for the wrong request
		"temperature is not supported":                                 2,
		"Invalid tool schema: properties.temperature.items is missing": 1,
		"* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[temperature].items: missing": 1,
		`Unknown name "temperature" at 'tools[0].function_declarations[0].parameters': Cannot find field.`:             1,
		"tools.0.custom.input_schema: temperature is wrong":                                                            1,
		"Invalid schema for function 'temperature'":                                                                    1,
		"Invalid name 'room_temperature'":                                                                              1,
	} {
		requests := 0
		r := chat.Refusals[odd]{Members: oddMembers}
		service := func(o odd) error {
			if requests++; o.wrong {
				return refuse(message)
			}
			if !o.temperature {
				t.Errorf("%s: another request is sent without its temperature", message)
			}
			return nil
		}
		if err := post(&r, odd{temperature: true, wrong: true}, service); err == nil || requests != want {
			t.Errorf("%s: %d requests, %v", message, requests, err)
		}
		if err := post(&r, odd{temperature: true}, service); err != nil {
			t.Error(err)
		}
	}
}

// TestRefusedMembersExpire checks that refused members are left out for an hour if a request without them has succeeded.
func TestRefusedMembersExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := chat.Refusals[odd]{Members: oddMembers}
		requests := func() (n int) {
			err := post(&r, odd{temperature: true, effort: true}, func(o odd) error {
				switch n++; {
				case o.temperature:
					return refuse("* GenerateContentRequest.generation_config.temperature: must be 1")
				case o.effort:
					return refuse("output_config.effort: Extra inputs are not permitted")
				default:
					return nil
				}
			})
			if err != nil {
				t.Error(err)
			}
			return n
		}
		if first, second := requests(), requests(); first != 3 || second != 1 {
			t.Errorf("%d requests, then %d", first, second)
		}
		time.Sleep(time.Hour)
		if n := requests(); n != 3 {
			t.Errorf("an hour later, %d requests", n)
		}
	})
}
