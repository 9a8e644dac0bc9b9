package runner

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/handover"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/prompted"
	"github.com/callwright/callwright/agents/tool"
	"github.com/callwright/callwright/agenttest/engine"
)

// talker is the agent of a persona in a session.
type talker struct {
	brain *handover.Brain
	paths []*graph.Graph // pathways to which the persona may hand over
	now   *graph.Graph   // pathway to which the persona has handed over; nil if it has not
	log   pathway.Log    // log of the current turn
}

// startPersona starts a session with a version of a persona. The persona may hand over to pathways in the version that is in production
// now. Pathways that are deleted or have no version in production are omitted.
func (r *Runner) startPersona(ctx context.Context, spec engine.SessionSpec, sink *Sink) (engine.Session, error) {
	switch {
	case r.cfg.Personas == nil:
		return nil, callwright.Invalid("persona_id", "must be absent: this runner tests only pathways")
	case spec.StartNode != "":
		return nil, callwright.Invalid("start_node_id", "must be absent: a persona has no nodes")
	}
	v, err := r.cfg.Personas.LoadPinned(ctx, spec.Org, spec.Persona, spec.Version)
	if err != nil {
		return nil, err
	}
	tools, err := tool.NewSet(v.Tools)
	if err != nil {
		return nil, err
	}
	agent, byID := &talker{}, map[string]*graph.Graph{}
	for _, c := range v.Conditions {
		if r.cfg.Production == nil || byID[c.Pathway] != nil {
			continue
		}
		g, _, err := r.cfg.Production.Load(ctx, spec.Org, c.Pathway, pathway.Selector{Environment: pathway.Production})
		switch callwright.CodeOf(err) {
		case "":
			byID[c.Pathway] = g
			agent.paths = append(agent.paths, g)
		case callwright.CodeNotFound, callwright.CodeInvalidState:
		default:
			return nil, err
		}
	}
	agent.brain, err = handover.New(handover.Config{
		Task: prompted.Config{
			Model: silent{spec.Model}, Org: spec.Org, Persona: v.Personality, Task: v.Orchestration, Variables: spec.Variables,
			Language: v.Call.Language, Tools: tools, Requests: sink, Bases: v.KnowledgeBases, Knowledge: r.cfg.Knowledge,
		},
		Conditions: v.Conditions, Runtime: r.cfg.Runtime,
		Load: func(_ context.Context, id string) (*graph.Graph, error) {
			if g := byID[id]; g != nil {
				return g, nil
			}
			return nil, callwright.NotFound("pathway in production")
		},
		Observer: func(log pathway.Log, g *graph.Graph) { agent.log, agent.now = log, g },
	})
	if err != nil {
		return nil, err
	}
	return &session{runner: r, agent: agent, sink: sink, state: agent.brain.State()}, nil
}

// errOver is the error of a turn after the end of the conversation.
var errOver = callwright.Errorf(callwright.CodeInvalidState, "the conversation is over")

// step executes a turn. The brain, not state, contains the state of the conversation.
func (t *talker) step(
	ctx context.Context, state pathway.State, in conversation.Turn, emit func(conversation.Step) bool,
) (pathway.State, pathway.Log, error) {
	if state.Over {
		return state, pathway.Log{}, errOver
	}
	t.log = pathway.Log{}
	var failed error
	for step, err := range t.brain.Respond(ctx, in) {
		if err != nil {
			failed = err
		} else if !emit(step) {
			break
		}
	}
	if failed == nil && ctx.Err() != nil {
		failed = callwright.Errorf(callwright.CodeUnavailable, "the turn was canceled: %w", ctx.Err())
	}
	return t.brain.State(), t.log, failed
}

func (t *talker) at() *graph.Graph { return t.now }

func (t *talker) graphs() []*graph.Graph { return t.paths }
