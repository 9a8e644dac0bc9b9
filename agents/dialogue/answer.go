package dialogue

import (
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/speech/tts"
)

// Answer is an answer in progress. The conversation may stop it at any step. Its words are added to the Talk immediately. If the caller
// does not hear all of them, the next turn reports the heard part.
type Answer struct {
	BargeIn conversation.BargeIn // voice that interrupts the following words; the zero value means the conversation's settings
	Commit  func() error         // commits the turn: see conversation.Turn.Commit; nil while the turn is certain

	bargeIn conversation.BargeIn // the last emitted BargeIn
	talk    *Talk
	emit    func(conversation.Step) bool
	said    strings.Builder
	open    bool // the last message belongs to this answer and receives its next words
	from    int  // index in the field said at which the last message begins
	full    bool
	stopped bool
}

// Answer begins an answer. emit receives its steps, and returns false to stop the answer.
func (t *Talk) Answer(emit func(conversation.Step) bool) *Answer {
	t.Opened, t.Last, t.Starts = true, 0, nil
	return &Answer{talk: t, emit: emit}
}

// Text says a text, sentence by sentence. If the answer is stopped, the rest of the text becomes Talk.Unsaid.
func (a *Answer) Text(text string) {
	a.said.Grow(min(len(text)+1, MaxAnswer))
	var chunks tts.Chunker
	for _, chunk := range append(chunks.Write(text), chunks.Flush()...) {
		if a.stopped {
			a.talk.Unsaid = strings.TrimSpace(a.talk.Unsaid + " " + chunk)
			continue
		}
		a.say(chunk)
	}
}

// Courtesy says the answer that c names: the sentence of l for StillThere, Repeat and Goodbye, and the text in the parameter rest for GoOn.
// Goodbye also ends the conversation. Wait answers only the first of consecutive requests to wait, and lengthens the silence that the agent
// tolerates to WaitTime. None does nothing.
func (a *Answer) Courtesy(c Courtesy, rest string, l Lines) {
	switch c {
	case StillThere:
		a.Text(l.StillThere)
	case Repeat:
		a.Text(l.Repeat)
	case GoOn:
		a.Text(rest)
	case Wait:
		if a.talk.Waits == 1 {
			a.Text(l.TakeYourTime)
		}
		a.Step(conversation.Wait{For: WaitTime})
	case Goodbye:
		a.Text(l.Goodbye)
		a.Step(conversation.End{Reason: "the caller was not heard"})
	case None:
	}
}

// MaxAnswer bounds the words of an answer in bytes. It allows hours of speech.
const MaxAnswer = 256 << 10

// say adds the printable part of a chunk to the answer and emits it. It ignores the chunk if that part is blank, the answer is stopped, or
// would exceed MaxAnswer.
func (a *Answer) say(chunk string) {
	chunk = strings.TrimSpace(callwright.Printable(chunk))
	if chunk == "" {
		return
	}
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
	a.talk.Starts = append(a.talk.Starts, a.said.Len())
	a.said.WriteString(chunk)
	a.talk.Messages[len(a.talk.Messages)-1].Text = a.said.String()[a.from:]
	if a.BargeIn != a.bargeIn {
		a.bargeIn = a.BargeIn
		a.Step(a.BargeIn)
	}
	a.Step(conversation.Say{Text: chunk})
}

// call adds the agent's tool calls and their answers to the talk, after the agent's words.
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

// add appends a message to the talk, and sets Talk.Last at the answer's first message.
func (a *Answer) add(m llm.Message) {
	a.talk.Messages = append(a.talk.Messages, m)
	if a.talk.Last == 0 {
		a.talk.Last = len(a.talk.Messages)
	}
}

// Step emits a step, unless the answer is stopped. Before a step that cannot be withdrawn, it calls Certain.
func (a *Answer) Step(s conversation.Step) {
	switch s.(type) {
	case conversation.Say, conversation.Expect, conversation.BargeIn, conversation.Wait:
	default:
		a.Certain()
	}
	if !a.stopped {
		a.stopped = !a.emit(s)
	}
}

// Certain waits until Commit returns, and reports whether the answer goes on: it stops the answer if Commit returns an error, and returns
// false if the answer is stopped. It must be called before each effect outside the conversation, and at the end of the answer.
func (a *Answer) Certain() bool {
	if a.stopped || a.Commit == nil {
		return !a.stopped
	}
	if a.stopped = a.Commit() != nil; !a.stopped {
		a.Commit = nil
	}
	return !a.stopped
}

// Stopped reports whether emit or Commit has stopped the answer.
func (a *Answer) Stopped() bool { return a.stopped }

// Full reports whether the answer was cut at MaxAnswer.
func (a *Answer) Full() bool { return a.full }

// Spoken reports whether the answer contains any words so far.
func (a *Answer) Spoken() bool { return a.said.Len() > 0 }

// Said returns the words of the answer so far.
func (a *Answer) Said() string { return a.said.String() }
