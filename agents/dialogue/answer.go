package dialogue

import (
	"strings"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/speech/tts"
)

// Answer is an answer in progress, which the conversation may stop at any step. Its words are added to the Talk immediately; the
// next turn reports if not all of them were heard.
type Answer struct {
	talk    *Talk
	emit    func(conversation.Step) bool
	said    strings.Builder
	open    bool // the last message belongs to this answer and receives its further words
	from    int  // offset in said at which the words of that message begin
	full    bool
	stopped bool
}

// Answer begins an answer. emit receives its steps and returns false to stop.
func (t *Talk) Answer(emit func(conversation.Step) bool) *Answer {
	t.Opened, t.Last = true, 0
	return &Answer{talk: t, emit: emit}
}

// Text says a text, cut into sentences.
func (a *Answer) Text(text string) {
	a.said.Grow(min(len(text)+1, MaxAnswer))
	var chunks tts.Chunker
	for _, chunk := range chunks.Write(text) {
		a.say(chunk)
	}
	for _, chunk := range chunks.Flush() {
		a.say(chunk)
	}
}

// Courtesy says the sentence of a courtesy. Goodbye also ends the conversation.
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

// MaxAnswer bounds the words of an answer, in bytes. It is more than hours of speech.
const MaxAnswer = 256 << 10

// say says a chunk. An answer of MaxAnswer bytes accepts no further words.
func (a *Answer) say(chunk string) {
	a.full = a.full || a.said.Len()+len(chunk) > MaxAnswer
	if a.stopped || a.full {
		return
	}
	if a.said.Len() > 0 {
		a.said.WriteString(" ")
	}
	if !a.open {
		a.add(llm.Message{Role: llm.RoleAgent})
		a.open, a.from = true, a.said.Len()
	}
	a.said.WriteString(chunk)
	a.talk.Messages[len(a.talk.Messages)-1].Text = a.said.String()[a.from:]
	a.Step(conversation.Say{Text: chunk})
}

// call adds the agent's tool calls after its words, and their answers.
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

// Step emits a step.
func (a *Answer) Step(s conversation.Step) {
	if !a.stopped {
		a.stopped = !a.emit(s)
	}
}

// Stopped reports whether emit has stopped the answer.
func (a *Answer) Stopped() bool { return a.stopped }

// Full reports whether the answer was cut off at MaxAnswer.
func (a *Answer) Full() bool { return a.full }

// Spoken reports whether the answer contains any words so far.
func (a *Answer) Spoken() bool { return a.said.Len() > 0 }

// Said returns the words of the answer so far.
func (a *Answer) Said() string { return a.said.String() }
