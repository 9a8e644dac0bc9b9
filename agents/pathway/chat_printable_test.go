package pathway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
)

// TestChatIsPrintable checks that a chat's replies, history and log contain no control characters and no characters that change the writing
// direction, although the model and a variable of the chat contain such characters.
func TestChatIsPrintable(t *testing.T) {
	t.Parallel()
	m := &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		return agentstest.Texts("We \u202eare\u0007 ", "open\u2066 \u009btoday."), nil
	}}
	o := newOffice(t, func(c *pathway.Config) { c.Interpreter.Model = m })
	p := o.create(t, document(
		`{"id":"greet","type":"Default","data":{"isStart":true,"text":"Dear {{name}}."}}`,
		`{"id":"talk","type":"Default","data":{"prompt":"Talk."}}`,
		`{"id":"e1","source":"greet","target":"talk","data":{"alwaysPick":true}}`,
	))
	first := o.chat(t, pathway.ChatRequest{Pathway: p.ID, Variables: map[string]any{"name": "\u202eAda\u0000"}})
	second := o.say(t, first.Chat, "When are you open?")
	all := fmt.Sprint(first.Replies, second.Replies, second.State.Talk.Messages, second.Log.Said)
	if all != callwright.Printable(all) || !strings.Contains(all, "Dear Ada.") || strings.Count(all, "We are open today.") != 3 {
		t.Errorf("the chat is %q", all)
	}
}
