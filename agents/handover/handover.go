// Package handover implements the brain of an agent that begins with a task and can hand its conversation over to a pathway.
package handover

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agents/prompted"
	"github.com/callwright/callwright/agents/request"
)

// Config configures a Brain. Load is required if Conditions is not empty.
type Config struct {
	// Task leads the conversation until a condition is met. The Brain sets the task's Observe and Runtime.
	Task prompted.Config
	// Conditions lists the conditions under which a pathway takes over. If it is empty, the task leads the whole conversation.
	Conditions []persona.Condition
	// Load returns the graph of a pathway.
	Load func(ctx context.Context, pathway string) (*graph.Graph, error) `required:"with Conditions"`
	// Observer receives the log of every turn and of every withdrawn turn, in the goroutine of Respond. The graph leads the conversation, and
	// is nil while the task leads. Observer may be nil.
	Observer func(pathway.Log, *graph.Graph)

	callwright.Runtime
}

// Brain leads one conversation. Only one goroutine may use it.
//
// When the caller has spoken, a model first decides whether a condition is met. If so, the condition's pathway answers the caller's words,
// with all messages and variables so far, and leads the rest of the conversation. The knowledge bases and the tools of the task are then no
// longer used.
type Brain struct {
	cfg   Config
	task  *prompted.Brain
	path  *pathway.Brain // nil while the task leads
	graph *graph.Graph   // graph of path
	turn  int
	over  bool               // whether the task has ended or transferred the conversation
	notes []pathway.LogEntry // log entries of this turn
	usage llm.Usage          // of this turn's decision about a handover
	calls int                // model calls of this turn's decision
	uses  []llm.Use          // models that answered these calls
	early dialogue.EarlyBudget
}

var _ conversation.EarlyBrain = (*Brain)(nil)

// New returns the brain of one conversation. The error names all missing required fields.
func New(c Config) (*Brain, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	b := &Brain{cfg: c}
	c.Task.Observe, c.Task.Runtime = b.observe, c.Runtime
	var err error
	b.task, err = prompted.New(c.Task)
	return b, err
}

// State returns the state of the conversation. Its Node is empty before a handover. State must not be called during a turn.
func (b *Brain) State() pathway.State {
	if b.path != nil {
		return b.path.State()
	}
	return pathway.State{Talk: b.task.Talk(), Variables: b.task.Variables(), Turn: b.turn, Over: b.over}
}

// AnswersEarly implements conversation.EarlyBrain: it reports whether dialogue.EarlyBudget allows an early answer, and the pathway that leads
// the conversation, if any, answers early.
func (b *Brain) AnswersEarly() bool {
	return b.early.Allows() && (b.path == nil || b.path.AnswersEarly())
}

// Respond answers a turn like prompted.Brain before a handover, and like pathway.Brain afterwards. If the decision fails or the pathway
// cannot be loaded, the task still leads the conversation. A withdrawn turn does not hand over.
func (b *Brain) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		path, graph, over := b.path, b.graph, b.over
		b.notes, b.usage, b.calls, b.uses = nil, llm.Usage{}, 0, nil
		began := b.cfg.Clock.Now()
		if b.path == nil {
			b.decide(ctx, t)
		}
		if b.path != nil {
			b.path.Respond(ctx, t)(yield)
		} else {
			b.respond(ctx, t, began, yield)
		}
		if t.Withdraw() {
			b.path, b.graph, b.over = path, graph, over
		}
	}
}

// respond lets the task answer a turn, and passes the turn's log to the Observer. It adds words that meet a condition to the hints for the
// recognizer.
func (b *Brain) respond(ctx context.Context, t conversation.Turn, began time.Time, yield func(conversation.Step, error) bool) {
	phrases := b.phrases()
	b.over = false
	var said []string
	defer func() {
		usage, calls, uses := b.usage.Add(b.task.Usage()), b.calls+b.task.ModelCalls(), llm.AddUses(b.uses, b.task.Models()...)
		if t.Withdraw() {
			b.observeTurn(pathway.Log{Withdrawn: pathway.Withdrawn{Answers: 1, Usage: usage, ModelCalls: calls, Models: uses}})
			return
		}
		b.turn++
		b.observeTurn(pathway.Log{
			Turn: b.turn, Heard: t.Text, Said: strings.Join(said, " "), Entries: b.notes, Usage: usage, ModelCalls: calls,
			Models: uses, Duration: b.cfg.Clock.Now().Sub(began),
		})
	}()
	for step, err := range b.task.Respond(ctx, t) {
		switch s := step.(type) {
		case conversation.Say:
			said = append(said, s.Text)
		case conversation.Expect:
			s.Phrases = append(slices.Clone(s.Phrases), phrases...)
			step, phrases = s, nil
		case conversation.End, conversation.Transfer:
			b.over = true
		}
		if !yield(step, err) {
			return
		}
	}
	if len(phrases) > 0 && !b.over && !t.Withdraw() {
		yield(conversation.Expect{Phrases: phrases}, nil)
	}
}

// phrases returns words of the caller that would meet a condition, if the model can predict them.
func (b *Brain) phrases() []string {
	if h, ok := b.cfg.Task.Model.(llm.Hinter); ok && len(b.cfg.Conditions) > 0 {
		return h.Hints(llm.ReplyRequest{}, b.options())
	}
	return nil
}

// observeTurn counts a turn for the budget of early answers, and passes its log to the Observer, if it is set.
func (b *Brain) observeTurn(log pathway.Log) {
	b.early.Count(log.Withdrawn.Answers > 0, log.Withdrawn.ModelCalls)
	if b.cfg.Observer != nil {
		b.cfg.Observer(log, b.graph)
	}
}

// observePath adds the decision about a handover to the log of a pathway's turn, and passes the log to the Observer.
func (b *Brain) observePath(log pathway.Log) {
	if log.Turn > 0 {
		log.Entries, log.Usage = append(b.notes, log.Entries...), log.Usage.Add(b.usage)
		log.ModelCalls, log.Models = log.ModelCalls+b.calls, llm.AddUses(b.uses, log.Models...)
	} else {
		log.Withdrawn = log.Withdrawn.Add(pathway.Withdrawn{Usage: b.usage, ModelCalls: b.calls, Models: b.uses})
	}
	b.observeTurn(log)
}

// observe logs a request of the task's tools.
func (b *Brain) observe(r request.Log) {
	b.notes = append(b.notes, pathway.RequestEntries(r, b.cfg.Clock.Now())...)
}

// note adds an entry to the turn's log, with the current time.
func (b *Brain) note(e pathway.LogEntry) {
	e.At = b.cfg.Clock.Now()
	b.notes = append(b.notes, e)
}

// deciding contains the instructions by which a model decides whether to hand over.
const deciding = "An agent talks with a caller. Choose whether the conversation is to go on along one of the plans."

// decide hands the conversation over if the caller's words or digits in this turn meet a condition. An agent with a first sentence says
// that sentence before the first decision.
func (b *Brain) decide(ctx context.Context, t conversation.Turn) {
	talk := b.task.Talk()
	spoke := t.Kind == conversation.TurnDigits || t.Kind == conversation.TurnSpeech && t.Text != ""
	if len(b.cfg.Conditions) == 0 || !spoke || !talk.Opened && b.cfg.Task.FirstSentence != "" {
		return
	}
	heard := talk
	heard.Hear(t)
	variables := b.task.Variables()
	q := llm.Question{
		Org: b.cfg.Task.Org, Instructions: deciding, Messages: heard.Messages, Variables: variables,
		Language: b.cfg.Task.Language, Model: b.cfg.Task.ModelName, Fallback: b.cfg.Task.Fallback, Temperature: b.cfg.Task.Temperature,
	}
	q.Options = append(b.options(), llm.Option{ID: "no plan", Label: "none of the others", Otherwise: true})
	model := llm.NewCounter(b.cfg.Task.Model)
	choice, usage, err := llm.Choose(ctx, model, q)
	b.usage, b.calls, b.uses = usage, model.Calls(), model.Uses()
	if err != nil {
		b.note(pathway.LogEntry{Kind: pathway.LogError, Text: "the model cannot decide about a handover: " + err.Error()})
		return
	}
	for i, c := range b.cfg.Conditions {
		if q.Options[i].ID == choice.Option {
			state := pathway.Begin(variables, "")
			state.Talk, state.Turn = talk, b.turn
			b.enter(ctx, c, choice.Reason, state)
		}
	}
}

// options returns the conditions as options of a choice, in the same order.
func (b *Brain) options() []llm.Option {
	options := make([]llm.Option, len(b.cfg.Conditions), len(b.cfg.Conditions)+1)
	for i, c := range b.cfg.Conditions {
		options[i] = llm.Option{ID: "plan " + strconv.Itoa(i+1), Label: c.When}
	}
	return options
}

// enter hands the conversation over to the condition's pathway, which continues with state. If the pathway cannot be loaded, enter logs the
// error and the task continues.
func (b *Brain) enter(ctx context.Context, c persona.Condition, reason string, state pathway.State) {
	g, err := b.cfg.Load(ctx, c.Pathway)
	if err != nil {
		b.note(pathway.LogEntry{
			Kind: pathway.LogError, Text: "the pathway " + c.Pathway + " cannot take over: " + callwright.MessageOf(err),
		})
		return
	}
	b.note(pathway.LogEntry{
		Kind: pathway.LogDecision, Chosen: g.Start.ID, Text: "the pathway " + c.Pathway + " takes over, " + c.When + ": " + reason,
	})
	task := b.cfg.Task
	b.graph = g
	b.path, err = pathway.NewBrain(pathway.BrainConfig{
		Interpreter: &pathway.Interpreter{
			Model: task.Model, Requests: task.Requests, Knowledge: task.Knowledge, Runtime: b.cfg.Runtime,
		},
		Graph: g,
		Agent: pathway.Agent{
			Org: task.Org, Persona: task.Persona, Language: task.Language, Model: task.ModelName, Fallback: task.Fallback, Temperature: task.Temperature,
			TransferTo: task.TransferTo, Facts: task.Facts, Lines: task.Lines, Silences: task.Silences,
		},
		State: state, Observer: b.observePath,
	})
	if err != nil { // unreachable, because all required fields are set
		b.path, b.graph = nil, nil
	}
}
