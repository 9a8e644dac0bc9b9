package pathway

import (
	"context"
	"strings"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/overlap"
	"github.com/callwright/callwright/speech/tts"
)

// answering contains the instructions for an answer to a caller who has interrupted a node's text.
const answering = "You were saying a prepared text, and the caller has interrupted you. Answer the caller in one or two sentences. " +
	"The caller has heard the words of your last message, so never say them again. If the caller wants to hear more, go on with the " +
	"unheard words, as they are written."

// cut reports whether the caller has interrupted the node's text. The conversation then does not say the heard part of the text again,
// except for a question: see sayRest.
func (w *walk) cut() bool { return w.state.Interruption.Cut && w.at.Text != nil }

// continueText answers words that have interrupted the node's text, or that follow such an interruption, if the conversation stays at the
// node. The model answers them. If it cannot, the agent invites a caller who asked it to stop, says the unheard rest of the text to any
// other, and asks the caller to repeat the words if no rest is left.
func (w *walk) continueText(ctx context.Context, in conversation.Turn) {
	said := w.answer.Said()
	r := w.request()
	r.Instructions = strings.TrimSpace(r.Instructions + "\n\n" + answering)
	r.Unheard = w.state.Interruption.Rest
	err := w.converse(ctx, r)
	if err == nil || w.broken(ctx) {
		return
	}
	w.note(LogEntry{Kind: LogError, Text: err.Error()})
	switch {
	case w.answer.Said() != said:
	case overlap.AsksToStop(w.agent.Language, in.Text):
		w.answer.Text(w.agent.Lines.GoAhead)
	case w.state.Interruption.Rest != "":
		w.sayRest(false)
	default:
		w.answer.Text(w.agent.Lines.Repeat)
	}
}

// sayRest says the unheard rest of the node's interrupted text. If the caller has heard the whole text and the conversation returns to the
// node, sayRest repeats the question at the end of the text, because the node still needs its answer.
func (w *walk) sayRest(arriving bool) {
	if rest := w.state.Interruption.Rest; rest != "" {
		w.state.SaysText, w.state.Interruption.Rest = true, ""
		w.answer.Text(rest)
		return
	}
	if !arriving {
		return
	}
	var c tts.Chunker
	sentences := append(c.Write(w.render(w.at.Text)), c.Flush()...)
	if n := len(sentences); n > 0 && overlap.Asked(sentences[n-1]) {
		w.answer.Text(sentences[n-1])
	}
}
