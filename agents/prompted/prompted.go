// Package prompted is the brain of an agent that has a task in words: it gives the conversation to a language model,
// and what the model streams to the conversation, sentence by sentence.
package prompted

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
)

// Config is an agent on one call. Model and Task are required.
type Config struct {
	Model         llm.Model
	Org           callwright.OrgID
	Task          string
	FirstSentence string // empty: the model makes one
	Language      string // BCP 47
	ModelName     string // as the caller of the API gave it; empty: the model's own choice
	Temperature   *float64
	TransferTo    string         // E.164 number or SIP URI; empty: no transfers
	Variables     map[string]any // for {{name}} in Task and FirstSentence: data, never expanded again
	Lines         Lines          // what the agent says without the model; empty ones are English sentences
	Logger        *slog.Logger   // nil: discards
}

// Lines are what the agent says without the model.
type Lines struct {
	Repeat     string // the caller said something that could not be understood
	StillThere string // the caller is silent
	Goodbye    string // the caller stays silent, or can't be understood for too long
	Apology    string // the model has failed
	NotReached string // a transfer has failed, and the conversation goes on
}

// How often the agent asks again before it gives up.
const (
	maxSilences = 2
	maxUnclear  = 3
)

// longestRetryAfter is how long the caller may be kept waiting for a model that is over its rate.
const longestRetryAfter = 2 * time.Second

// Brain is an agent on one call. One goroutine uses it.
type Brain struct {
	config   Config
	history  []llm.Message
	last     int // index of the agent's last answer in history; -1: none
	opened   bool
	silences int // in a row
	unclear  int // in a row
}

var _ conversation.Brain = (*Brain)(nil)

// New checks the config and fills the variables into the texts.
func New(c Config) (*Brain, error) {
	if c.Model == nil || strings.TrimSpace(c.Task) == "" {
		return nil, errors.New("prompted: Model and Task are required")
	}
	c.Task = Fill(c.Task, c.Variables)
	c.FirstSentence = Fill(c.FirstSentence, c.Variables)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	for _, l := range []struct {
		line   *string
		preset string
	}{
		{&c.Lines.Repeat, "Sorry, I did not catch that. Could you say it again?"},
		{&c.Lines.StillThere, "Are you still there?"},
		{&c.Lines.Goodbye, "I can't hear you well. Goodbye."},
		{&c.Lines.NotReached, "I am sorry, nobody could be reached. Is there anything else that I can do for you?"},
		{&c.Lines.Apology, "I am sorry, I have a technical problem and must end the call. Goodbye."},
	} {
		if *l.line == "" {
			*l.line = l.preset
		}
	}
	return &Brain{config: c, last: -1}, nil
}

// Respond answers a turn. The first sentence is the config's, the model's where there is none, and comes first also
// when the caller has spoken first. Silence and unintelligible speech are answered without the model, and end the call
// when they go on. A second start means that a transfer has failed, and is answered with words for that. When the model fails, the agent says the apology, and the error is the stream's last element.
func (b *Brain) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		rest := b.amend(t)
		b.note(t)
		opening := !b.opened
		b.opened = true
		said := &answer{brain: b, yield: yield}
		defer said.keep()
		switch {
		case opening && b.config.FirstSentence != "":
			said.text(b.config.FirstSentence)
			b.hint(said)
		case t.Kind == conversation.TurnStart && !opening:
			said.text(b.config.Lines.NotReached)
		case t.Kind == conversation.TurnSilence && b.silences > maxSilences,
			t.Kind == conversation.TurnSpeech && b.unclear >= maxUnclear:
			said.text(b.config.Lines.Goodbye)
			said.step(conversation.End{Reason: "the caller was not heard"})
		case t.Kind == conversation.TurnSilence && !opening:
			said.text(b.config.Lines.StillThere)
		case t.Kind == conversation.TurnSpeech && t.Text == "" && rest != "":
			said.text(rest) // a noise broke in: go on
		case t.Kind == conversation.TurnSpeech && t.Text == "" && !opening:
			said.text(b.config.Lines.Repeat)
		default:
			b.ask(ctx, said)
		}
	}
}

// amend cuts the agent's last answer to what was heard of it, and gives the part that was not.
func (b *Brain) amend(t conversation.Turn) string {
	if !t.Interrupted || b.last < 0 {
		return ""
	}
	whole := b.history[b.last].Text
	rest := strings.TrimSpace(strings.TrimPrefix(whole, t.Heard))
	b.history[b.last].Text = t.Heard
	if t.Heard == "" {
		b.history = append(b.history[:b.last], b.history[b.last+1:]...)
	}
	b.last = -1
	return rest
}

// note adds what the caller did to the history. What was not understood is not in it.
func (b *Brain) note(t conversation.Turn) {
	switch {
	case t.Kind == conversation.TurnSilence:
		b.silences++
		return
	case t.Kind == conversation.TurnSpeech && t.Text == "":
		b.unclear++
		return
	case t.Kind == conversation.TurnStart:
		return
	}
	b.silences, b.unclear = 0, 0
	text := t.Text
	if t.Kind == conversation.TurnDigits {
		text = "(pressed " + t.Text + ")"
	}
	if n := len(b.history); n > 0 && b.history[n-1].Role == llm.RoleCaller {
		b.history[n-1].Text += " " + text
		return
	}
	b.history = append(b.history, llm.Message{Role: llm.RoleCaller, Text: text})
}

// ask has the model answer, a second time if it fails before it has said anything and trying again makes sense.
func (b *Brain) ask(ctx context.Context, said *answer) {
	err := b.stream(ctx, said)
	if wait, again := retry(err); again && !said.stopped && !said.spoken() {
		b.config.Logger.WarnContext(ctx, "the model failed, trying again", "error", err)
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		err = b.stream(ctx, said)
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	said.text(b.config.Lines.Apology)
	said.fail(err)
}

// request is what the model is told of the conversation.
func (b *Brain) request(messages []llm.Message) llm.ReplyRequest {
	return llm.ReplyRequest{
		Org: b.config.Org, Instructions: b.config.Task, CanEnd: true, Language: b.config.Language, Model: b.config.ModelName,
		Temperature: b.config.Temperature, Messages: slices.Clone(messages), CanTransfer: b.config.TransferTo != "",
	}
}

// hint passes on what the caller may say to the first sentence, which the model did not make, if the model knows.
func (b *Brain) hint(said *answer) {
	h, ok := b.config.Model.(llm.Hinter)
	if !ok {
		return
	}
	spoken := append(slices.Clone(b.history), llm.Message{Role: llm.RoleAgent, Text: b.config.FirstSentence})
	if phrases := h.Hints(b.request(spoken), nil); len(phrases) > 0 {
		said.step(conversation.Expect{Phrases: phrases})
	}
}

// retry says whether a failure may be gone at once or soon.
func retry(err error) (time.Duration, bool) {
	if err == nil {
		return 0, false
	}
	switch llm.ClassOf(err) {
	case llm.ClassTransient:
		return 0, true
	case llm.ClassRateLimited:
		f, ok := errors.AsType[*llm.Failure](err)
		return f.RetryAfter, ok && f.RetryAfter <= longestRetryAfter
	default:
		return 0, false
	}
}

// stream passes one reply of the model on.
func (b *Brain) stream(ctx context.Context, said *answer) error {
	var chunks conversation.Chunker
	var action llm.Action
	for part, err := range b.config.Model.Reply(ctx, b.request(b.history)) {
		if err != nil {
			return err
		}
		if len(part.Expect) > 0 {
			said.step(conversation.Expect{Phrases: part.Expect})
		}
		for _, chunk := range chunks.Write(part.Text) {
			said.say(chunk)
		}
		if part.Action != "" {
			action = part.Action
		}
		if said.stopped {
			return nil
		}
	}
	for _, chunk := range chunks.Flush() {
		said.say(chunk)
	}
	said.act(action)
	return nil
}
