package dialogue

import (
	"strings"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/speech/tts"
)

// Answer is an answer on its way to the conversation, which may stop it at any step. Its words are in the Talk at once; if
// not all of them are heard, the next turn says so.
type Answer struct {
	talk    *Talk
	emit    func(conversation.Step) bool
	said    strings.Builder
	open    bool // the last message belongs to this answer and takes its further words
	from    int  // where the words of that message begin in said
	full    bool
	stopped bool
}

// Answer begins an answer. emit takes its steps and returns whether it wants more.
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

// Courtesy says the line of a courtesy. Goodbye also ends the conversation.
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

// say says a chunk. An answer of MaxAnswer takes no further words.
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

// Step passes a step on.
func (a *Answer) Step(s conversation.Step) {
	if !a.stopped {
		a.stopped = !a.emit(s)
	}
}

// Stopped reports whether emit wants no more.
func (a *Answer) Stopped() bool { return a.stopped }

// Full reports whether the answer was cut off because it had MaxAnswer.
func (a *Answer) Full() bool { return a.full }

// Spoken reports whether the answer has any words so far.
func (a *Answer) Spoken() bool { return a.said.Len() > 0 }

// Said returns the words of the answer so far.
func (a *Answer) Said() string { return a.said.String() }
