package call_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

// service stands for a brain at a URL. It greets, and fails in the second turn if its URL says so.
type service struct {
	call    call.Call
	observe func(pathway.Log)
	turn    int
}

func (b *service) Respond(context.Context, conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		b.turn++
		log := request.Log{Name: "brain", Method: "POST", URL: b.call.Agent.Brain, Status: 200, Variables: map[string]any{"day": "Tuesday"}}
		defer func() {
			b.observe(pathway.Log{Turn: b.turn, Entries: pathway.RequestEntries(log, time.Now()), ModelCalls: 1})
		}()
		switch {
		case b.turn == 1:
			yield(conversation.Say{Text: "good day"}, nil)
		case b.call.Agent.Brain == "https://away.example/":
			log.Status, log.Error = 0, "the brain is away"
			if yield(conversation.Say{Text: "sorry"}, nil) {
				yield(nil, callwright.Errorf(callwright.CodeUnavailable, "the brain is away"))
			}
		default:
			yield(conversation.End{Reason: "the brain was done"}, nil)
		}
	}
}

// TestRemoteBrain checks that a service leads a call, that the record contains its requests and variables, and how the call ends if the
// service is away.
func TestRemoteBrain(t *testing.T) {
	t.Parallel()
	inHouseWith(t, func(t *testing.T, h *house) {
		for url, want := range map[string]call.HangupReason{
			"https://brain.example/": {Cause: call.CauseLocalHangup, Reason: "the brain was done"},
			"https://away.example/":  {Cause: call.CauseServiceFailed, Reason: "the brain is away"},
		} {
			c := h.order(call.Request{Overrides: agents.Patch{Brain: callwright.Given(url)}})
			phone := h.answered()
			h.hears(phone, "good day")
			h.says(phone, "hello")
			got, _ := h.ended(c.ID)
			if got.Ending.Cause != want.Cause || got.Ending.Reason != want.Reason {
				t.Errorf("%s: ended %+v", url, got.Ending)
			}
			if got.ModelCalls != (call.ModelCalls{All: 2}) || got.Variables["day"] != "Tuesday" {
				t.Errorf("%s: %+v, variables %v", url, got.ModelCalls, got.Variables)
			}
		}
	}, func(c *call.Config) {
		c.RemoteBrain = func(c call.Call, observe func(pathway.Log)) (conversation.Brain, error) {
			return &service{call: c, observe: observe}, nil
		}
	})
	inHouseWith(t, func(t *testing.T, h *house) {
		c := h.order(call.Request{Overrides: agents.Patch{Brain: callwright.Given("https://brain.example/")}})
		h.answered()
		if got, _ := h.ended(c.ID); got.Ending.Cause != call.CauseServiceFailed {
			t.Errorf("without the port: ended %+v", got.Ending)
		}
	})
}
