package chat_test

import (
	"encoding/json"
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
