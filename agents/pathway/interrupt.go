package pathway

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/overlap"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/speech/tts"
)

// answering contains the instructions for an answer to a caller who has interrupted a node's text, or whose words do not lead on from it.
const answering = "You were saying a prepared text, and the caller has said something that does not answer it, or has interrupted you. " +
	"Answer the caller in one or two sentences. The caller has heard the words of your last message, so never say them again. After your " +
	"answer, the text goes on by itself with the unheard words or its question, so do not say these either. If you ask a question, the " +
	"text waits for the caller's answer."

// cut reports whether the caller has interrupted the node's text, or the conversation has returned to a long text from a global node. The
// conversation then does not say the heard part of the text again, except for a question: see sayRest.
func (w *walk) cut() bool { return w.state.Interruption != (Interruption{}) && w.at.Text != nil }

// isLong reports whether a node has a text of several sentences, which is not said again after it was heard.
func (w *walk) isLong(n *graph.Node) bool {
	return n.Text != nil && len(sentences(w.render(n.Text))) > 1
}

// returning returns the interruption of the text of the node to which the conversation returns. A long text counts as interrupted, so that
// it is not said again.
func (w *walk) returning(n *graph.Node) Interruption {
	i := w.state.ReturnInterruption
	i.Cut = i.Cut || w.isLong(n)
	return i
}

// continueText answers words of the caller if the conversation stays at a node with a text. The model answers them, and then the text goes
// on: with its unheard rest (see sayRest), or else with its question. The text does not go on yet if the caller has asked the agent to stop
// or to wait, or if the model's answer is a question. asked is the result of dialogue.Talk.Asked.
//
// If the model cannot answer, the agent invites a caller who asked it to stop or to wait, and says the unheard rest of the text to any other.
// If no rest is left, the agent says that it has not understood and asks the text's question, or asks the caller to repeat the words.
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
	question, _ := question(w.render(w.at.Text))
	switch {
	case own != "" && (stops || overlap.Asked(own)):
	case own == "" && stops:
		w.answer.Text(w.agent.Lines.GoAhead)
	case w.state.Interruption.Rest != "":
		w.sayRest(false)
	case own != "":
		w.ask(question)
	case question != "":
		w.ask(w.agent.Lines.NotUnderstood + " " + question)
	default:
		w.answer.Text(w.agent.Lines.Repeat)
	}
}

// sayRest says the unheard rest of the node's interrupted text, from the start of the interrupted sentence: see dialogue.Talk.Hear. If the
// caller has heard the whole text, and the conversation is arriving, which means that it has returned to a node that waits for the caller,
// sayRest repeats only the question of the text, or its last sentence if it has no question.
func (w *walk) sayRest(arriving bool) {
	if rest := w.state.Interruption.Rest; rest != "" {
		w.state.Interruption.Rest = ""
		w.ask(rest)
		return
	}
	w.state.SaysText = true
	if !arriving || w.at.Type == graph.NodeWait || w.state.ActionPending && w.moves() {
		return
	}
	question, last := question(w.render(w.at.Text))
	w.ask(cmp.Or(question, last))
}

// ask says a part of the node's text, whose interruption is an interruption of the text.
func (w *walk) ask(text string) {
	w.state.SaysText = true
	w.answer.Text(text)
}

// sentences returns the sentences of a text.
func sentences(text string) []string {
	c := tts.Chunker{WholeSentences: true}
	return append(c.Write(text), c.Flush()...)
}

// question returns the question at the end of a text, which is its last sentence with a question mark and the few words that may follow it
// (see overlap.Asked), and the last sentence. Both may be empty.
func question(text string) (question, last string) {
	all := sentences(text)
	for i := range slices.Backward(all) {
		if asks := strings.Join(all[i:], " "); overlap.Asked(asks) {
			return asks, all[len(all)-1]
		}
	}
	if len(all) > 0 {
		last = all[len(all)-1]
	}
	return "", last
}
