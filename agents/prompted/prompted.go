// Package prompted is the brain of an agent that has a task in words: it gives the conversation to a language model,
// and what the model streams to the conversation, sentence by sentence.
package prompted

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
	"github.com/callwright/callwright/agents/tool"
)

// Config is an agent on one call. Model and Task are required; so is Requests, where there are Tools.
type Config struct {
	Model         llm.Model
	Org           callwright.OrgID
	Persona       string // who the agent is and how it talks; stands before Task
	Task          string
	FirstSentence string // empty: the model makes one
	Language      string // BCP 47
	ModelName     string // as the caller of the API gave it; empty: the model's own choice
	Temperature   *float64
	TransferTo    string         // E.164 number or SIP URI; empty: no transfers
	Facts         []request.Fact // about the variables, for the model
	Variables     map[string]any // for {{name}} in Persona, Task, FirstSentence and the tools: data, never expanded again
	Tools         *tool.Set      // what the model may call; nil: nothing
	Requests      request.Client
	Observe       func(request.Log) // gets every call of a tool; nil: nobody looks on
	Lines         dialogue.Lines    // what the agent says without the model; empty ones are English sentences
	Logger        *slog.Logger      // nil: discards
}

// Brain is an agent on one call. One goroutine uses it.
type Brain struct {
	cfg       Config
	speaker   dialogue.Speaker
	talk      dialogue.Talk
	variables map[string]any // those of the config, and what tools gave
}

var _ conversation.Brain = (*Brain)(nil)

// New checks the config and fills the variables into the texts.
func New(c Config) (*Brain, error) {
	switch {
	case c.Model == nil:
		return nil, errors.New("prompted: Config.Model is required")
	case strings.TrimSpace(c.Task) == "":
		return nil, errors.New("prompted: Config.Task is required")
	case c.Tools != nil && c.Requests == nil:
		return nil, errors.New("prompted: Config.Requests is required, because there are Tools")
	}
	fill := func(text string) string { return template.Parse(text).Render(c.Variables) }
	c.Task = strings.TrimSpace(fill(c.Persona) + "\n\n" + fill(c.Task))
	c.FirstSentence = fill(c.FirstSentence)
	c.Lines = c.Lines.Filled()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Observe == nil {
		c.Observe = func(request.Log) {}
	}
	variables := map[string]any{}
	maps.Copy(variables, c.Variables)
	return &Brain{
		cfg: c, variables: variables,
		speaker: dialogue.Speaker{Model: c.Model, Tools: c.Tools, Requests: c.Requests, Logger: c.Logger},
	}, nil
}

// Respond answers a turn. The first sentence is the config's, the model's where there is none, and comes first also
// when the caller has spoken first. Silence and unintelligible speech are answered without the model, and end the call
// when they go on. A second start means that a transfer has failed, and is answered with words for that. When the model
// fails, the agent says the apology, and the error is the stream's last element.
func (b *Brain) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		rest := b.talk.Hear(t)
		opening := !b.talk.Opened
		courtesy := b.talk.Patience(t, rest)
		a := b.talk.Answer(func(s conversation.Step) bool { return yield(s, nil) })
		switch {
		case opening && b.cfg.FirstSentence != "":
			a.Text(b.cfg.FirstSentence)
			b.hint(a)
		case t.Kind == conversation.TurnStart && !opening:
			a.Text(b.cfg.Lines.NotReached)
		case courtesy != dialogue.None:
			a.Courtesy(courtesy, rest, b.cfg.Lines)
		default:
			err := b.speak(ctx, a)
			if err == nil || ctx.Err() != nil {
				return
			}
			a.Text(b.cfg.Lines.Apology)
			if !a.Stopped() {
				yield(nil, err)
			}
		}
	}
}

// speak has the model answer, and does what it wants done.
func (b *Brain) speak(ctx context.Context, a *dialogue.Answer) error {
	reply, err := b.speaker.Reply(ctx, a, b.request(), b.variables)
	for _, log := range reply.Requests {
		b.cfg.Observe(log)
	}
	maps.Copy(b.variables, reply.Variables)
	if err != nil {
		return err
	}
	switch {
	case reply.Action == llm.ActionEnd:
		a.Step(conversation.End{Reason: "the agent was done"})
	case reply.Action == llm.ActionTransfer && b.cfg.TransferTo != "":
		a.Step(conversation.Transfer{To: b.cfg.TransferTo})
	case reply.Action == llm.ActionTransfer:
		b.cfg.Logger.WarnContext(ctx, "the model wants to transfer the call, and there is no number to transfer to")
	}
	return nil
}

// request is what the model is told beside the conversation.
func (b *Brain) request() llm.ReplyRequest {
	return llm.ReplyRequest{
		Org: b.cfg.Org, Instructions: b.cfg.Task, CanEnd: true, Language: b.cfg.Language, Model: b.cfg.ModelName,
		Temperature: b.cfg.Temperature, CanTransfer: b.cfg.TransferTo != "",
		Facts: request.Known(b.cfg.Facts, b.variables),
	}
}

// hint passes on what the caller may say to the first sentence, which the model did not make, if the model knows.
func (b *Brain) hint(a *dialogue.Answer) {
	h, ok := b.cfg.Model.(llm.Hinter)
	if !ok {
		return
	}
	r := b.request()
	r.Messages = slices.Clone(b.talk.Messages)
	if phrases := h.Hints(r, nil); len(phrases) > 0 {
		a.Step(conversation.Expect{Phrases: phrases})
	}
}
