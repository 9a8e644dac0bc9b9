package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/caller"
	"github.com/callwright/callwright/agenttest/scenario"
)

// These errors are the causes of the timeouts of a run and of a turn.
var (
	errRunTime  = errors.New("the run has lasted too long")
	errTurnTime = errors.New("the turn has lasted too long")
)

// expectedTurns is the number of the caller's turns for which memory is allocated in advance.
const expectedTurns = 10

// run is the state of a run in progress.
type run struct {
	*Engine

	c        Case
	models   *recorder
	caller   caller.Caller
	out      Outcome
	messages []llm.Message // messages so far, for callers
	node     string        // id of the node at which the agent waits
	loops    loops
	notes    int
	spent    Usage // usage until the end of the agent's last turn
	maxTurns int
}

func (e *Engine) newRun(ctx context.Context, c Case, stop context.CancelCauseFunc) (*run, error) {
	r := &run{
		Engine: e, c: c, maxTurns: c.Scenario.MaxTurns,
		models: &recorder{
			journal: c.Journal, budget: NewBudget(e.cfg.Limit, c.Budget), pricer: e.cfg.Pricer, answer: e.cfg.Answer,
			trial: c.Trial, log: e.cfg.Logger,
		},
	}
	if c.Stopped {
		r.models.stop = stop
	}
	if r.maxTurns == 0 {
		r.maxTurns = scenario.DefaultMaxTurns
	}
	r.out.Evidence = assert.Evidence{Org: string(c.Scenario.Org), Run: c.Run, Variables: map[string]any{}}
	expected := 2*min(r.maxTurns, expectedTurns) + 1
	r.out.Evidence.Turns, r.messages = make([]assert.Turn, 0, expected), make([]llm.Message, 0, expected)
	r.out.Evidence.Visits, r.out.Turns = make([]assert.Visit, 0, expected), make([]Turn, 0, expected)
	r.loops.exchanges = make([][3]string, 0, expectedTurns)
	if err := r.models.load(ctx); err != nil {
		return nil, err
	}
	var err error
	if r.caller, err = caller.New(c.Scenario, r.model(e.cfg.CallerModel, byCaller)); err != nil {
		return nil, callwright.Invalid("scenario_type", "%s", err)
	}
	return r, nil
}

// model returns m with a recorder that counts and stores its answers.
func (r *run) model(m llm.Model, by role) llm.Model {
	return recorded{model: m, by: by, repeats: llm.Repeats(m), in: r.models}
}

// converse starts a session, holds the conversation and records it.
func (r *run) converse(ctx context.Context) {
	s := &r.c.Scenario
	variables := make(map[string]any, len(s.RequestData)+len(r.c.Variables))
	maps.Copy(variables, s.RequestData)
	maps.Copy(variables, r.c.Variables)
	session, err := r.cfg.Runner.Start(ctx, SessionSpec{
		Org: s.Org, Pathway: s.Pathway, Persona: s.Persona, Version: r.c.Version, StartNode: s.StartNode, Variables: variables,
		Webhooks: s.Webhooks, Model: r.model(r.cfg.Model, byAgent), Trial: r.c.Trial,
	})
	if err != nil {
		r.end(r.reason(ctx, assert.EndAgentError), r.startProblem(ctx, err))
		return
	}
	defer func() {
		if err := session.Close(); err != nil {
			r.cfg.Logger.WarnContext(ctx, "session of a test run was not closed", "run", r.c.Run, "error", err)
		}
	}()
	r.out.Evidence.Graph = session.Graph()
	r.turns(ctx, session)
}

// startProblem returns the human-readable reason why a session cannot start.
func (r *run) startProblem(ctx context.Context, err error) string {
	if e, ok := errors.AsType[*callwright.Error](err); ok && e.Code == callwright.CodeBadRequest && e.Field == "start_node_id" {
		return "start_node_id must be the id of a node of the tested version"
	}
	return "the conversation cannot begin: " + r.clientText(ctx, err)
}

// clientText returns the text of an error for clients. Clients see only model failures and coded errors; other errors are logged.
func (r *run) clientText(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return context.Cause(ctx).Error()
	}
	if f, ok := errors.AsType[*llm.Failure](err); ok {
		return f.Error()
	}
	if e, ok := errors.AsType[*callwright.Error](err); ok && e.Code != callwright.CodeInternal {
		return e.Message
	}
	r.cfg.Logger.ErrorContext(ctx, "test run has failed", "run", r.c.Run, "org", r.c.Scenario.Org, "error", err)
	return "internal error"
}

// turns executes the turns of the agent and the caller until the conversation ends.
func (r *run) turns(ctx context.Context, session Session) {
	var said CallerTurn
	var callerTook time.Duration
	hungUp := false
	for n := 0; ; n++ {
		turn, ended := r.reply(ctx, session, said, callerTook)
		switch {
		case ended:
			return
		case turn.Ended:
			r.end(assert.EndByAgent, "")
			return
		case hungUp:
			r.end(assert.EndByCaller, "")
			return
		case turn.Loop || r.loops.add(said.Text, turn.Text, turn.Node) || len(r.out.Evidence.Visits) >= MaxVisits:
			r.end(assert.EndLoop, "")
			return
		case n == r.maxTurns:
			r.end(assert.EndMaxTurns, "")
			return
		}
		line, took, ended := r.listen(ctx, n)
		if ended {
			return
		}
		if line.Text == "" {
			r.end(assert.EndByCaller, "")
			return
		}
		r.add(llm.RoleCaller, line.Text, r.node)
		said, callerTook, hungUp = CallerTurn{Text: line.Text, Digits: line.Digits}, took, line.HangUp
	}
}

// reply executes a turn of the agent and records it. ended reports that the agent failed, and that this ended the conversation.
func (r *run) reply(ctx context.Context, session Session, said CallerTurn, callerTook time.Duration) (t AgentTurn, ended bool) {
	limited, cancel := context.WithTimeoutCause(ctx, r.cfg.TurnTime, errTurnTime)
	defer cancel()
	began := r.cfg.Clock.Now()
	t, err := session.Reply(limited, said)
	r.note(t, Turn{CallerTook: callerTook, Took: r.cfg.Clock.Now().Sub(began)})
	if err != nil {
		r.end(r.reason(limited, assert.EndAgentError), "the agent failed: "+r.clientText(limited, err))
		return t, true
	}
	return t, false
}

// note records a turn of the agent in the outcome.
func (r *run) note(t AgentTurn, detail Turn) {
	e := &r.out.Evidence
	last, visits := len(e.Turns)-1, len(e.Visits)
	for _, node := range t.Visits[:min(len(t.Visits), MaxVisits-visits)] {
		e.Visits = append(e.Visits, assert.Visit{Node: node, Turn: last})
	}
	for _, w := range t.Webhooks[:min(len(t.Webhooks), MaxWebhooks-len(e.Webhooks))] {
		w.Turn, w.Visit = last, w.Visit+visits
		e.Webhooks = append(e.Webhooks, w)
	}
	if t.Variables != nil {
		e.Variables = t.Variables
	}
	r.node = t.Node
	detail.Index, detail.Node = len(e.Turns), t.Node
	text, cut := clip(t.Text, MaxMessage)
	if text != "" {
		r.add(llm.RoleAgent, text, t.Node)
	}
	detail.Notes = t.Notes[:min(len(t.Notes), MaxNotes-r.notes)]
	if cut {
		detail.Notes = append(slices.Clip(detail.Notes), Note{Kind: "error", Node: t.Node, Text: "the agent said more than 16 KB; the rest is left out"})
	}
	r.notes += len(detail.Notes)
	spent := r.models.spent()
	detail.Usage, r.spent = spent.less(r.spent), spent
	detail.Uses = r.models.recentUses()
	r.out.Turns = append(r.out.Turns, detail)
}

// listen executes a turn of the caller. ended reports that the caller failed or was invalid, and that this ended the conversation.
func (r *run) listen(ctx context.Context, turn int) (l caller.Line, took time.Duration, ended bool) {
	limited := ctx
	if _, played := r.caller.(*caller.Model); played { // a scripted line takes no time
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, r.cfg.TurnTime, errTurnTime)
		defer cancel()
	}
	began := r.cfg.Clock.Now()
	l, err := r.caller.Next(limited, caller.Moment{Messages: r.messages, Node: r.node, Turn: turn})
	switch {
	case err != nil:
		r.end(r.reason(limited, assert.EndCallerInvalid), "the simulated caller failed: "+r.clientText(limited, err))
	case l.Invalid != "":
		l.Text, _ = clip(l.Text, 200)
		r.end(assert.EndCallerInvalid, "the simulated caller was off script: its last line is invalid, because "+l.Invalid+": "+l.Text)
	case len(l.Text) > MaxMessage:
		r.end(assert.EndCallerInvalid, "the simulated caller said more than 16 KB at once")
	case l.Text == "" && !l.HangUp:
		r.end(assert.EndCallerInvalid, "the simulated caller said nothing")
	default:
		return l, r.cfg.Clock.Now().Sub(began), false
	}
	return l, 0, true
}

// add appends a turn to the conversation.
func (r *run) add(by llm.Role, text, node string) {
	r.out.Evidence.Turns = append(r.out.Evidence.Turns, assert.Turn{Role: by, Text: text, Node: node})
	r.messages = append(r.messages, llm.Message{Role: by, Text: text})
}

// end sets the reason why the conversation ended. problem is the human-readable reason if the run is therefore an error. For timeouts and
// an exhausted budget, end writes its own text instead.
func (r *run) end(reason assert.EndReason, problem string) {
	r.out.Evidence.End = reason
	if reason == assert.EndCancelled {
		return
	}
	switch reason {
	case assert.EndTurnTimeout:
		problem = errTurnTime.Error() + ": at most " + r.cfg.TurnTime.String()
	case assert.EndRunTimeout:
		problem = errRunTime.Error() + ": at most " + r.cfg.RunTime.String()
	case assert.EndBudget:
		problem = r.models.failures().budget.Error()
	default:
	}
	r.out.Error = problem
}

// reason returns why a conversation failed: a timeout, a cancellation, an exhausted budget or, if it was none of these, the given reason.
func (r *run) reason(ctx context.Context, otherwise assert.EndReason) assert.EndReason {
	switch cause := context.Cause(ctx); {
	case cause != nil && errors.Is(cause, errTurnTime):
		return assert.EndTurnTimeout
	case cause != nil && errors.Is(cause, errRunTime):
		return assert.EndRunTimeout
	case cause != nil:
		return assert.EndCancelled
	case r.models.failures().budget != nil:
		return assert.EndBudget
	default:
		return otherwise
	}
}

// clip truncates a text between characters to at most the given number of bytes, and reports whether it truncated the text. It replaces
// invalid UTF-8.
func clip(text string, most int) (string, bool) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text, false
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most], true
}
