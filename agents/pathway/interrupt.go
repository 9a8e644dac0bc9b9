package pathway

import (
	"context"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/overlap"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/speech/tts"
)

// answering contains the instructions for an answer to a caller who has interrupted a node's text.
const answering = "You were saying a prepared text, and the caller has interrupted you. Answer the caller in one or two sentences. " +
	"The caller has heard the words of your last message, so never say them again. After your answer, the text goes on by itself with the " +
	"unheard words, so do not say these either. If you ask a question, the text waits for the caller's answer."

// cut reports whether the caller has interrupted the node's text, or the conversation has returned to it from a global node. The conversation
// then does not say the heard part of the text again, except for a question: see sayRest.
func (w *walk) cut() bool { return w.state.Interruption != (Interruption{}) && w.at.Text != nil }

// continueText answers words that have interrupted the node's text, or that follow such an interruption, if the conversation stays at the
// node. The model answers them, and then the text goes on: see sayRest. The text does not go on yet if the caller has asked the agent to stop
// or to wait, or if the model's answer is a question. asked is the result of dialogue.Talk.Asked.
//
// If the model cannot answer, the agent invites a caller who asked it to stop or to wait, says the unheard rest of the text to any other, and
// asks the caller to repeat the words if no rest is left.
func (w *walk) continueText(ctx context.Context, in conversation.Turn, asked dialogue.Courtesy) {
	said := w.answer.Said()
	r := w.request()
	r.Instructions = strings.TrimSpace(r.Instructions + "\n\n" + answering)
	r.Unheard = w.state.Interruption.Rest
	err := w.converse(ctx, r)
	if w.broken(ctx) {
		return
	}
	if err != nil {
		w.note(LogEntry{Kind: LogError, Text: err.Error()})
	}
	stops := asked == dialogue.Wait || overlap.AsksToStop(w.agent.Language, in.Text)
	own := strings.TrimPrefix(w.answer.Said(), said)
	switch {
	case own != "" && (stops || overlap.Asked(own)):
	case own != "":
		w.sayRest(true)
	case stops:
		w.answer.Text(w.agent.Lines.GoAhead)
	case w.state.Interruption.Rest != "":
		w.sayRest(false)
	default:
		w.answer.Text(w.agent.Lines.Repeat)
	}
}

// sayRest says the unheard rest of the node's interrupted text, from the start of the interrupted clause: see dialogue.Talk.Hear. If the
// caller has heard the whole text, sayRest repeats only its question, provided that asks is set and the node waits for the caller's answer.
func (w *walk) sayRest(asks bool) {
	w.state.SaysText = true
	if rest := w.state.Interruption.Rest; rest != "" {
		w.state.Interruption.Rest = ""
		w.answer.Text(rest)
		return
	}
	if asks && w.at.Type != graph.NodeWait && !(w.state.ActionPending && w.moves()) {
		w.answer.Text(question(w.render(w.at.Text)))
	}
}

// question returns the part of a node's text that the caller must answer: the last sentence with a question mark and the few words that may
// follow it (see overlap.Asked), or else the last sentence.
func question(text string) string {
	c := tts.Chunker{WholeSentences: true}
	sentences := append(c.Write(text), c.Flush()...)
	if len(sentences) == 0 {
		return ""
	}
	for i := range slices.Backward(sentences) {
		if asks := strings.Join(sentences[i:], " "); overlap.Asked(asks) {
			return asks
		}
	}
	return sentences[len(sentences)-1]
}
