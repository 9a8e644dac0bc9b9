package call

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/handover"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/prompted"
	"github.com/callwright/callwright/agents/tool"
)

// loadLeader contains the pathway that leads a call's conversation, if any.
type loadLeader struct {
	graph  *graph.Graph // nil means that the task leads
	number int          // version number of graph
}

// loadLeader loads the pathway that leads a call. Later changes of the pathway do not change the call. Without a pathway, it returns the
// zero value.
func (s *Service) loadLeader(ctx context.Context, c Call) (loadLeader, error) {
	if c.Agent.Pathway.ID == "" {
		return loadLeader{}, nil
	}
	return s.load(ctx, c.Org, c.Agent.Pathway)
}

// load loads a pathway. It returns CodeNotFound if the start node is missing, CodeUnavailable if this server has no pathways, or the error
// of Pathways.Load.
func (s *Service) load(ctx context.Context, org callwright.OrgID, ref agents.PathwayRef) (loadLeader, error) {
	if s.cfg.Pathways == nil {
		return loadLeader{}, callwright.Errorf(callwright.CodeUnavailable, "this server has no pathways")
	}
	g, number, err := s.cfg.Pathways.Load(ctx, org, ref.ID, ref.Version)
	if err == nil && ref.StartNode != "" && g.Nodes[ref.StartNode] == nil {
		err = callwright.NotFound("start node")
	}
	return loadLeader{g, number}, err
}

// hangupWithoutLeader returns the hang-up reason of a call that has no agent, or whose pathway or persona could not be loaded. gone reports whether the failure
// is permanent.
func hangupWithoutLeader(err error) (e HangupReason, gone bool) {
	if given, ok := errors.AsType[*callwright.Error](err); ok && given.Field == "phone_number" { // see Agents.Answering
		return HangupReason{Cause: CauseNoAgent, Reason: callwright.MessageOf(err)}, true
	}
	switch callwright.CodeOf(err) {
	case callwright.CodeNotFound, callwright.CodeBadRequest, callwright.CodeInvalidState:
		return HangupReason{Cause: CauseNoPathway, Reason: callwright.MessageOf(err)}, true
	default:
		return HangupReason{Cause: CauseInternal, Reason: callwright.MessageOf(err)}, false
	}
}

// warnOfModels logs the models that the call's agent or its pathway's nodes name but this server lacks. The default model replaces them.
func (s *Service) warnOfModels(ctx context.Context, c Call, by loadLeader) {
	asked := map[string]bool{c.Agent.Model: true, c.Agent.Fallback: true}
	if by.graph != nil {
		for _, n := range by.graph.Nodes {
			asked[n.Model] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if _, known := llm.NameOf(s.cfg.Model, name); !known {
			s.cfg.Logger.WarnContext(ctx, llm.Missing(name), "call_id", c.ID, "pathway_id", c.Agent.Pathway.ID)
		}
	}
}

// remoteBrain returns the brain of a call that a service leads.
func (s *Service) remoteBrain(c Call, book *recordWriter) (conversation.Brain, error) {
	if s.cfg.RemoteBrain == nil {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "this server has no remote brains")
	}
	return s.cfg.RemoteBrain(c, func(log pathway.Log) { book.turn(log, nil) })
}

// brain returns the brain of a call. If Config.NewBrain returns a brain or an error, brain returns that. If the agent names a service, the
// service leads the conversation. Otherwise the pathway leads the conversation, and its nodes define their tools. Without a pathway, the task leads with the agent's tools, until one of the agent's
// conditions hands the conversation over to a pathway.
func (s *Service) brain(ctx context.Context, c Call, by loadLeader, book *recordWriter) (conversation.Brain, error) {
	if s.cfg.NewBrain != nil {
		if own, err := s.cfg.NewBrain(ctx, c); own != nil || err != nil {
			return own, err
		}
	}
	if c.Agent.Brain != "" {
		return s.remoteBrain(c, book)
	}
	s.warnOfModels(ctx, c, by)
	if by.graph != nil {
		return pathway.NewBrain(pathway.BrainConfig{
			Interpreter: &pathway.Interpreter{
				Model: s.cfg.Model, Requests: s.cfg.Requests, Knowledge: s.cfg.Knowledge,
				Runtime: s.cfg.Runtime,
			},
			Graph: by.graph,
			Agent: pathway.Agent{
				Org: c.Org, Persona: c.Agent.Persona, Language: c.Agent.Language, Model: c.Agent.Model, Fallback: c.Agent.Fallback,
				Temperature: c.Agent.Temperature, TransferTo: c.Agent.TransferTo.String(), FirstSentence: c.Agent.FirstSentence,
				Facts: c.Agent.Facts(), Lines: c.Agent.Idle.Lines(), Silences: c.Agent.Idle.Asks(),
			},
			State:    pathway.Begin(c.Variables, c.Agent.Pathway.StartNode),
			Observer: func(log pathway.Log) { book.turn(log, by.graph) },
		})
	}
	tools, err := tool.NewSet(c.Agent.Tools)
	if err != nil {
		return nil, err
	}
	return handover.New(handover.Config{
		Task: prompted.Config{
			Model: s.cfg.Model, Org: c.Org, Persona: c.Agent.Persona, Task: c.Agent.Task, FirstSentence: c.Agent.FirstSentence,
			Language: c.Agent.Language, Temperature: c.Agent.Temperature, ModelName: c.Agent.Model, Fallback: c.Agent.Fallback,
			TransferTo: c.Agent.TransferTo.String(), Variables: c.Variables, Facts: c.Agent.Facts(), Tools: tools,
			Requests: s.cfg.Requests, Bases: c.Agent.KnowledgeBases, Knowledge: s.cfg.Knowledge,
			Lines: c.Agent.Idle.Lines(), Silences: c.Agent.Idle.Asks(),
		},
		Conditions: c.Agent.Conditions, Runtime: callwright.Runtime{Clock: book.clock, Logger: s.cfg.Logger},
		Load: func(ctx context.Context, id string) (*graph.Graph, error) {
			by, err := s.load(ctx, c.Org, agents.PathwayRef{ID: id, Version: pathway.Selector{Environment: pathway.Production}})
			return by.graph, err
		},
		Observer: book.turn,
	})
}
