// Package prompted implements the brain of an agent whose task is written in plain words. It passes the conversation to a language model,
// and streams the model's words to the caller, sentence by sentence.
package prompted

import (
	"context"
	"fmt"
	"iter"
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

// Config configures a Brain for one conversation. The zero values of optional fields are valid.
type Config struct {
	Model llm.Model `required:"always"`
	Task  string    `required:"always"` // the agent's task; may contain {{variables}}

	Org           callwright.OrgID
	Persona       string // the agent's identity and way of talking; precedes Task, and may contain {{variables}}
	FirstSentence string // may contain {{variables}}; if empty, the model produces it
	Language      string // BCP 47 tag
	ModelName     string // model name from an API client; if empty, the adapter's default
	Fallback      string // name of the model that replies if that model fails: see llm.ReplyRequest
	Temperature   *float64
	TransferTo    string            // E.164 number or SIP URI; empty means no transfers
	Facts         []request.Fact    // sentences that explain variables to the model
	Variables     map[string]any    // values of {{variables}}; {{...}} within a value is not expanded
	Tools         *tool.Set         // the tools that the model may call; nil means none
	Requests      request.Client    `required:"with Tools"`
	Observe       func(request.Log) // called for every tool call, after the reply; may be nil
	Bases         []string          // ids of the knowledge bases to search, at most MaxBases
	Knowledge     Knowledge         // if nil, Bases return no passages
	Lines         dialogue.Lines    // empty lines are replaced by sentences in Language
	Silences      *int              // see dialogue.Idle.Times

	callwright.Runtime
}

// Knowledge searches an organization's knowledge bases. See pathway.Knowledge for the requirements of an implementation.
type Knowledge interface {
	// Find returns at most limit passages of a knowledge base that help to answer a question, best first.
	Find(ctx context.Context, org callwright.OrgID, base, question string, limit int) ([]string, error)
}

// MaxBases is the maximum number of knowledge bases of one agent.
const MaxBases = 10

// Brain conducts one conversation according to a task. It is not safe for concurrent use.
type Brain struct {
	cfg       Config
	speaker   dialogue.Speaker
	talk      dialogue.Talk
	variables map[string]any // Config.Variables and the variables that tools set
	usage     llm.Usage      // of the last turn
	calls     int            // model calls of the last turn
	uses      []llm.Use      // models that answered these calls
	early     dialogue.EarlyBudget
}

var _ conversation.EarlyBrain = (*Brain)(nil)

// New returns the brain of one conversation. It returns an error if a required field is missing or if Bases contains more than MaxBases
// ids.
func New(c Config) (*Brain, error) {
	c.Task = strings.TrimSpace(c.Task)
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if len(c.Bases) > MaxBases {
		return nil, fmt.Errorf("prompted: Config.Bases must have at most %d items, not %d", MaxBases, len(c.Bases))
	}
	fill := func(text string) string { return template.Parse(text).Render(c.Variables) }
	c.Task = strings.TrimSpace(fill(c.Persona) + "\n\n" + fill(c.Task))
	c.FirstSentence = fill(c.FirstSentence)
	c.Lines = c.Lines.Filled(c.Language)
	if c.Observe == nil {
		c.Observe = func(request.Log) {}
	}
	variables := map[string]any{}
	maps.Copy(variables, c.Variables)
	return &Brain{
		cfg: c, variables: variables,
		speaker: dialogue.Speaker{Tools: c.Tools, Requests: c.Requests, Runtime: c.Runtime},
	}, nil
}

// Talk returns the conversation so far. It must not be called during a turn.
func (b *Brain) Talk() dialogue.Talk { return b.talk }

// Variables returns a copy of the Config's variables with the changes by tools. It must not be called during a turn.
func (b *Brain) Variables() map[string]any { return maps.Clone(b.variables) }

// Usage returns the tokens of the last turn, even if that turn was withdrawn. It must not be called during a turn.
func (b *Brain) Usage() llm.Usage { return b.usage }

// ModelCalls returns the number of requests to the model in the last turn, even if that turn was withdrawn. It must not be called during a
// turn.
func (b *Brain) ModelCalls() int { return b.calls }

// Models returns the models that answered the requests of the last turn, even if that turn was withdrawn. It must not be called during a
// turn.
func (b *Brain) Models() []llm.Use { return b.uses }

// AnswersEarly implements conversation.EarlyBrain: it reports whether dialogue.EarlyBudget allows an early answer. The model answers a turn
// that is not certain, and only its tools and the steps that cannot be withdrawn wait until the turn is certain.
func (b *Brain) AnswersEarly() bool { return b.early.Allows() }

// Respond answers a turn. The agent begins with its first sentence, even if the caller has spoken first. Respond answers silence and
// unclear speech without the model, and ends the call if they continue. A second TurnStart means that a transfer has failed, and the agent
// says so. If the model fails, the agent apologizes, and the error is the stream's last element.
func (b *Brain) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		before := b.talk
		b.usage = llm.Usage{}
		model := llm.NewCounter(b.cfg.Model)
		b.speaker.Model = model
		rest := b.talk.Hear(t)
		opening := !b.talk.Opened
		courtesy := b.talk.Patience(t, rest, b.cfg.Silences)
		if courtesy == dialogue.None && !opening {
			courtesy = b.talk.Asked(t, b.cfg.Language)
		}
		a := b.talk.Answer(func(s conversation.Step) bool { return yield(s, nil) })
		a.Commit = func() error { return t.Commit(ctx) }
		var err error
		switch {
		case opening && b.cfg.FirstSentence != "":
			a.Text(b.cfg.FirstSentence)
			b.hint(a)
		case t.Kind == conversation.TurnStart && !opening:
			a.Text(b.cfg.Lines.NotReached)
		case courtesy != dialogue.None:
			a.Courtesy(courtesy, rest, b.cfg.Lines)
		default:
			err = b.speak(ctx, a)
			if err != nil && ctx.Err() == nil {
				a.Text(b.cfg.Lines.Apology)
			}
		}
		goesOn, withdrawn := a.Certain(), t.Withdraw()
		b.calls, b.uses = model.Calls(), model.Uses()
		b.early.Count(withdrawn, b.calls)
		switch {
		case withdrawn:
			b.talk = before
		case err != nil && ctx.Err() == nil && goesOn:
			yield(nil, err)
		}
	}
}

// speak requests an answer from the model, and appends the steps of the action that the model chose.
func (b *Brain) speak(ctx context.Context, a *dialogue.Answer) error {
	r := b.request()
	r.Knowledge = b.passages(ctx)
	reply, err := b.speaker.Reply(ctx, a, r, b.variables)
	b.usage = reply.Usage
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
		b.cfg.Logger.WarnContext(ctx, "model wants a transfer, and there is no number")
	}
	return nil
}

// maxFacts is the maximum number of bytes that variables add to the facts of one model request.
const maxFacts = 1 << 20

// request returns a request to the model, without knowledge and messages.
func (b *Brain) request() llm.ReplyRequest {
	return llm.ReplyRequest{
		Org: b.cfg.Org, Instructions: b.cfg.Task, CanEnd: true, Language: b.cfg.Language, Model: b.cfg.ModelName, Fallback: b.cfg.Fallback,
		Temperature: b.cfg.Temperature, CanTransfer: b.cfg.TransferTo != "",
		Unheard: b.talk.Unheard,
		Facts:   request.Known(b.cfg.Facts, template.NewValues(b.variables, maxFacts)),
	}
}

// hint passes to the recognizer the phrases that the model expects after the configured first sentence. It does nothing if the model is no
// llm.Hinter or expects no phrases.
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
