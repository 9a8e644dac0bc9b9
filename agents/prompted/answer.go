package prompted

import (
	"strings"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
)

// answer is one answer on its way to the conversation, which may stop taking it at any step.
type answer struct {
	brain   *Brain
	yield   func(conversation.Step, error) bool
	words   []string
	stopped bool
}

// text says a text, cut into sentences.
func (a *answer) text(text string) {
	var chunks conversation.Chunker
	for _, chunk := range append(chunks.Write(text), chunks.Flush()...) {
		a.say(chunk)
	}
}

// say says a chunk.
func (a *answer) say(chunk string) {
	if !a.stopped {
		a.words = append(a.words, chunk)
	}
	a.step(conversation.Say{Text: chunk})
}

// act does what the model wants done.
func (a *answer) act(action llm.Action) {
	switch action {
	case llm.ActionEnd:
		a.step(conversation.End{Reason: "the agent was done"})
	case llm.ActionTransfer:
		if to := a.brain.config.TransferTo; to != "" {
			a.step(conversation.Transfer{To: to})
			return
		}
		a.brain.config.Logger.Warn("the model wants to transfer the call, and there is no number to transfer to")
	}
}

// step passes a step on.
func (a *answer) step(s conversation.Step) {
	if !a.stopped {
		a.stopped = !a.yield(s, nil)
	}
}

// fail ends the answer with an error.
func (a *answer) fail(err error) {
	if !a.stopped {
		a.stopped = true
		a.yield(nil, err)
	}
}

// spoken says whether any words are out.
func (a *answer) spoken() bool { return len(a.words) > 0 }

// keep adds what was said to the history, as far as it was given out. If it is not heard to its end, the next turn
// says so.
func (a *answer) keep() {
	b := a.brain
	b.last = -1
	if a.spoken() {
		b.last = len(b.history)
		b.history = append(b.history, llm.Message{Role: llm.RoleAgent, Text: strings.Join(a.words, " ")})
	}
}
