// Package dialogue implements the parts of a conversation that agents with and without a pathway share. A Talk contains the messages, cuts
// the agent's words to the heard part, and decides how to answer silence and noise. A Speaker lets a model speak and calls its tools.
package dialogue

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
)

// Talk contains the messages of an agent and a caller. It is plain data: a copy is a separate conversation. The zero Talk is a conversation
// that has not begun.
//
// For each turn, Hear adds the turn, Patience decides whether the turn needs a model, and Answer begins the answer.
type Talk struct {
	Messages []llm.Message
	Last     int  // 1 + index of the first message of the agent's last turn; 0 if there is none
	Opened   bool // whether the first turn was answered
	Silences int  // consecutive silent turns
	Unclear  int  // consecutive turns without understood words
	Waits    int  `json:",omitempty"` // consecutive requests of the caller to wait

	// Unsaid is the rest of a known text that the agent did not begin to say, because its answer was stopped. Unheard contains the words
	// of the agent that the caller has interrupted and not heard, including Unsaid. It begins at the start of the sentence that the caller has
	// interrupted, so that the agent can continue there. It is empty after an answer that was heard completely.
	Unsaid, Unheard string `json:",omitempty"`
	Starts          []int  `json:",omitempty"` // offsets in the agent's last words at which its Say steps begin, in order
}

// Hear adds a turn. If the caller interrupted the agent, Hear cuts the agent's last words to the heard part. It sets Unheard to the words
// with which the agent can continue, and returns them. An interruption of an answer without words leaves Unheard unchanged. Hear adds the
// caller's words or digits to the messages, except for speech without words.
//
// The returned words begin at the start of the interrupted sentence, as a person would begin it again. They repeat the heard part of that
// sentence, and never a whole sentence. A sentence begins with a Say step, unless the step before ends with a clause.
func (t *Talk) Hear(turn conversation.Turn) (rest string) {
	// A copy of the talk may share the messages. Most turns add two messages.
	t.Messages = append(make([]llm.Message, 0, len(t.Messages)+2), t.Messages...)
	switch {
	case !turn.Interrupted:
		t.Unheard = ""
	case t.Last > 0 || t.Unsaid != "":
		t.Unheard = strings.TrimSpace(t.cut(turn.Heard) + " " + t.Unsaid)
	}
	t.Unsaid, rest = "", t.Unheard
	switch {
	case turn.Kind == conversation.TurnSilence:
		t.Silences++
		t.Waits = 0
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

// cut cuts the agent's last words to the heard part, and returns the rest from the start of the interrupted sentence. Messages of the tools
// that the agent called remain.
func (t *Talk) cut(heard string) (rest string) {
	if t.Last == 0 {
		return ""
	}
	turn := slices.Clone(t.Messages[t.Last-1:])
	t.Messages = t.Messages[:t.Last-1]
	rest = wordsOf(turn)
	rest = strings.TrimSpace(rest[interrupted(rest, heard, t.Starts):])
	t.Last, t.Starts = 0, nil
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

// interrupted returns the offset in the agent's words at which the interrupted sentence begins, or the length of words that were heard
// completely. If the words do not begin with the heard part, it returns 0. starts contains the offsets at which Say steps begin.
func interrupted(words, heard string, starts []int) (begin int) {
	rest, ok := strings.CutPrefix(words, heard)
	rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	switch {
	case !ok:
		return 0
	case rest == "":
		return len(words)
	}
	for _, start := range starts {
		before, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(words[:start], unicode.IsSpace))
		if clause := strings.ContainsRune(",;:—", before); !clause && start <= len(words)-len(rest) {
			begin = start
		}
	}
	return begin
}

// LastWords returns the agent's words of its last turn, including Unsaid.
func (t *Talk) LastWords() string {
	words := ""
	if t.Last > 0 {
		words = wordsOf(t.Messages[t.Last-1:])
	}
	return strings.TrimSpace(words + " " + t.Unsaid)
}

// wordsOf joins the agent's words in messages.
func wordsOf(messages []llm.Message) string {
	var texts []string
	for _, m := range messages {
		if m.Role == llm.RoleAgent && m.Text != "" {
			texts = append(texts, m.Text)
		}
	}
	return strings.Join(texts, " ")
}

// split splits the heard words into the part that belongs to text and the part that belongs to later texts. If the heard words do not begin
// with the whole text, all of them belong to it.
func split(text, heard string) (own, later string) {
	if after, whole := strings.CutPrefix(heard, text); whole {
		return text, strings.TrimSpace(after)
	}
	return heard, ""
}

// The agent asks again after each of maxSilences consecutive silences by default; the next silence ends the conversation. The maxUnclear-th
// consecutive turn without understood words ends the conversation.
const (
	maxSilences = 2
	maxUnclear  = 3
)

// Courtesy names an answer that needs no model.
type Courtesy string

// The answers that need no model.
const (
	None       Courtesy = ""
	StillThere Courtesy = "still there" // asks a silent caller
	Repeat     Courtesy = "repeat"      // asks a caller who was not understood to repeat
	GoOn       Courtesy = "go on"       // says the rest after noise interrupted the agent
	Wait       Courtesy = "wait"        // waits for a caller who has asked the agent to wait
	Goodbye    Courtesy = "goodbye"     // ends the conversation after too much silence or noise
)

// WaitTime is the silence of the caller that the agent tolerates after a request to wait.
const WaitTime = time.Minute

// Asked returns Wait if the caller's words in the turn ask the agent to wait: see AsksToWait. Otherwise it returns None. It must be called
// once for each turn that Patience does not answer.
func (t *Talk) Asked(turn conversation.Turn, language string) Courtesy {
	if turn.Kind != conversation.TurnSpeech || !AsksToWait(language, turn.Text) {
		t.Waits = 0
		return None
	}
	t.Waits++
	return Wait
}

// Patience returns the courtesy that answers a turn of silence or noise. rest is the result of Hear for the turn. Patience returns None for
// any other turn, and for silence or noise as the first turn, because these turns need a model. asks is the number of consecutive silences
// in which the agent asks the caller; nil means 2.
func (t *Talk) Patience(turn conversation.Turn, rest string, asks *int) Courtesy {
	silences := maxSilences
	if asks != nil {
		silences = *asks
	}
	silent := turn.Kind == conversation.TurnSilence
	unclear := turn.Kind == conversation.TurnSpeech && turn.Text == ""
	switch {
	case silent && t.Silences > silences, unclear && t.Unclear >= maxUnclear:
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
