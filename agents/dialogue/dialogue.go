// Package dialogue is what every agent does while it talks, whatever leads it: it keeps what was said, cuts its words to
// what was heard, answers silence and noise, and has a model speak, with tools to call and a second try.
package dialogue

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
)

// Talk is what an agent and a caller have said to each other. It is plain data: a copy of it is another conversation, and
// the zero Talk is one that has not begun.
//
// A turn goes like this: Hear takes it, Patience says whether it needs a model at all, and Answer begins the answer,
// which notes what it says.
type Talk struct {
	Messages []llm.Message
	Last     int  // 1 + the index of the first message that the agent's last turn added; 0: none
	Opened   bool // the first turn was answered
	Silences int  // in a row
	Unclear  int  // utterances in a row that were not understood
}

// Hear takes a turn: it cuts the agent's last words to what was heard of them, and adds what the caller said or pressed.
// What was not understood is not among the messages. rest is the part of the agent's last words that was not heard.
func (t *Talk) Hear(turn conversation.Turn) (rest string) {
	t.Messages = slices.Clone(t.Messages) // a copy of the talk may hold them too
	if turn.Interrupted {
		rest = t.cut(turn.Heard)
	}
	switch {
	case turn.Kind == conversation.TurnSilence:
		t.Silences++
		return rest
	case turn.Kind == conversation.TurnSpeech && turn.Text == "":
		t.Unclear++
		return rest
	case turn.Kind == conversation.TurnStart:
		return rest
	}
	t.Silences, t.Unclear = 0, 0
	text := turn.Text
	if turn.Kind == conversation.TurnDigits {
		text = "(pressed " + turn.Text + ")"
	}
	if n := len(t.Messages); n > 0 && t.Messages[n-1].Role == llm.RoleCaller {
		t.Messages[n-1].Text += " " + text
		return rest
	}
	t.Messages = append(t.Messages, llm.Message{Role: llm.RoleCaller, Text: text})
	return rest
}

// cut leaves of the agent's last words those that were heard, and gives the others. The tools that it called meanwhile
// were called all the same, so their messages stay.
func (t *Talk) cut(heard string) (rest string) {
	if t.Last == 0 {
		return ""
	}
	turn := slices.Clone(t.Messages[t.Last-1:])
	t.Messages = t.Messages[:t.Last-1]
	t.Last = 0
	rest = strings.TrimSpace(strings.TrimPrefix(words(turn), heard))
	for _, m := range turn {
		if m.Role == llm.RoleAgent {
			m.Text, heard = split(m.Text, heard)
		}
		if m.Text != "" || len(m.Calls) > 0 || m.Role == llm.RoleTool {
			t.Messages = append(t.Messages, m)
		}
	}
	return rest
}

// words are what the agent says in messages.
func words(messages []llm.Message) string {
	var texts []string
	for _, m := range messages {
		if m.Role == llm.RoleAgent && m.Text != "" {
			texts = append(texts, m.Text)
		}
	}
	return strings.Join(texts, " ")
}

// split gives the part of what was heard that is of this text, and the part that must be of later ones. What does not
// look like the text was heard instead of it.
func split(text, heard string) (own, later string) {
	if after, whole := strings.CutPrefix(heard, text); whole {
		return text, strings.TrimSpace(after)
	}
	return heard, ""
}

// How often the agent asks again before it gives up.
const (
	maxSilences = 2
	maxUnclear  = 3
)

// Courtesy is an answer that needs no model.
type Courtesy string

// The courtesies.
const (
	None       Courtesy = ""
	StillThere Courtesy = "still there" // the caller is silent
	Repeat     Courtesy = "repeat"      // the caller was not understood
	GoOn       Courtesy = "go on"       // a noise broke in: say what was not heard
	Goodbye    Courtesy = "goodbye"     // the caller was silent or not understood for too long: the conversation ends
)

// Patience says how to answer a turn that Hear took without asking a model: one of silence, or of noise. None: it can't
// be. rest is what Hear gave. Before the agent has said anything, silence and noise are a reason to begin.
func (t *Talk) Patience(turn conversation.Turn, rest string) Courtesy {
	silent := turn.Kind == conversation.TurnSilence
	unclear := turn.Kind == conversation.TurnSpeech && turn.Text == ""
	switch {
	case silent && t.Silences > maxSilences, unclear && t.Unclear >= maxUnclear:
		return Goodbye
	case silent && t.Opened:
		return StillThere
	case unclear && rest != "":
		return GoOn
	case unclear && t.Opened:
		return Repeat
	default:
		return None
	}
}
