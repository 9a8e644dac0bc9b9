package dialogue

import (
	"strings"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
)

// Answer is one answer on its way to the conversation, which may stop taking it at any step. What it says is in the
// Talk at once; if it is not heard to its end, the next turn says so.
type Answer struct {
	talk    *Talk
	emit    func(conversation.Step) bool
	open    bool // the last message is the agent's and of this answer: further words belong to it
	words   []string
	stopped bool
}

// Answer begins an answer. emit takes its steps and says whether it wants more.
func (t *Talk) Answer(emit func(conversation.Step) bool) *Answer {
	t.Opened, t.Last = true, 0
	return &Answer{talk: t, emit: emit}
}

// Text says a text, cut into sentences.
func (a *Answer) Text(text string) {
	var chunks conversation.Chunker
	for _, chunk := range append(chunks.Write(text), chunks.Flush()...) {
		a.say(chunk)
	}
}

// Courtesy says what a courtesy wants said, and ends the conversation with Goodbye.
func (a *Answer) Courtesy(c Courtesy, rest string, l Lines) {
	switch c {
	case StillThere:
		a.Text(l.StillThere)
	case Repeat:
		a.Text(l.Repeat)
	case GoOn:
		a.Text(rest)
	case Goodbye:
		a.Text(l.Goodbye)
		a.Step(conversation.End{Reason: "the caller was not heard"})
	case None:
	}
}

// say says a chunk.
func (a *Answer) say(chunk string) {
	if a.stopped {
		return
	}
	a.words = append(a.words, chunk)
	if a.open {
		a.talk.Messages[len(a.talk.Messages)-1].Text += " " + chunk
	} else {
		a.add(llm.Message{Role: llm.RoleAgent, Text: chunk})
		a.open = true
	}
	a.Step(conversation.Say{Text: chunk})
}

// call notes the tools that the agent calls after its words, with what they answered.
func (a *Answer) call(calls []llm.ToolCall, answers []llm.Message) {
	if a.open {
		a.talk.Messages[len(a.talk.Messages)-1].Calls = calls
	} else {
		a.add(llm.Message{Role: llm.RoleAgent, Calls: calls})
	}
	for _, m := range answers {
		a.add(m)
	}
	a.open = false
}

// add adds a message to the talk.
func (a *Answer) add(m llm.Message) {
	a.talk.Messages = append(a.talk.Messages, m)
	if a.talk.Last == 0 {
		a.talk.Last = len(a.talk.Messages)
	}
}

// Step passes a step on.
func (a *Answer) Step(s conversation.Step) {
	if !a.stopped {
		a.stopped = !a.emit(s)
	}
}

// Stopped says whether nobody takes the answer any more.
func (a *Answer) Stopped() bool { return a.stopped }

// Spoken says whether any words are out.
func (a *Answer) Spoken() bool { return len(a.words) > 0 }

// Said are all its words so far.
func (a *Answer) Said() string { return strings.Join(a.words, " ") }
