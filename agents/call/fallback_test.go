package call_test

import (
	"context"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
)

// hangs is a model that never replies.
type hangs struct{ *agentstest.Model }

func (hangs) Reply(ctx context.Context, _ llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		<-ctx.Done()
		yield(llm.ReplyPart{}, &llm.Failure{Class: llm.ClassTransient, Message: "ended", Cause: ctx.Err()})
	}
}

// TestFallbackInCall checks that the agent's fallback takes over within the turn if its model hangs, and that the record names both models,
// the cause, and the cost by the table of prices.
func TestFallbackInCall(t *testing.T) {
	t.Parallel()
	prices, err := price.Parse(strings.NewReader(`{"currency":"USD","models":{"second":{"input":"1","output":"2"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	usage := llm.Usage{Input: 100, Output: 10}
	second := &agentstest.Model{Called: "second", Usage: usage, Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		return agentstest.Texts("here I am."), nil
	}}
	model, err := llm.NewSelection(llm.SelectionConfig{Default: hangs{&agentstest.Model{Called: "first"}}, Others: map[string]llm.Model{"spare": second}})
	if err != nil {
		t.Fatal(err)
	}
	inOffice(t, func(t *testing.T, h *house, _ *agentstest.Requests) {
		c := h.create(agents.Agent{FirstSentence: "hello", Fallback: "spare"})
		phone := h.answered()
		h.hears(phone, "hello")
		h.says(phone, "monday")
		h.hears(phone, "here I am.")
		phone.Hangup()
		got, _ := h.ended(c.ID)
		use := llm.Use{Model: "second", Replaced: "first", Cause: llm.ClassTransient, Requests: 1, Usage: usage}
		if len(got.Models) != 1 || got.Models[0].Use != use {
			t.Errorf("models %+v, want %+v", got.Models, use)
		}
		if cost, known := got.Cost(); cost.String() != "0.00012" || !known {
			t.Errorf("the cost is %s, %t", cost, known)
		}
		logs, err := h.Logs(t.Context(), c.Org, c.ID)
		if err != nil || len(logs) != 1 || !reflect.DeepEqual(logs[0].Models, []llm.Use{use}) {
			t.Errorf("logs %+v, %v", logs, err)
		}
	}, func(c *call.Config) { c.Model, c.Prices = model, prices.Cost })
}
