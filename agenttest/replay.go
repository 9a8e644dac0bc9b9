package agenttest

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/runner"
)

// Chats repeats conversations as chats. pathway.Service implements it.
type Chats interface {
	// ReplayChat starts a chat and repeats a caller's lines in it: see pathway.Service.ReplayChat.
	ReplayChat(ctx context.Context, org callwright.OrgID, r pathway.ReplayRequest) (pathway.ChatReplay, error)
}

// Replay describes a chat that repeats the caller's lines of a run.
type Replay struct {
	Chat  pathway.Chat
	Said  int         // number of the caller's lines that the chat repeated
	Lines int         // number of the caller's lines in the run
	Nodes *Divergence // the first turn after which the agent's node differs; nil if none does
	Words *Divergence // the first turn in which the agent's words differ; nil if none do
}

// Divergence describes a turn in which the agent of a chat differs from the run.
type Divergence struct {
	Turn     int    // index in the run's Evidence.Turns
	Expected string // node or words in the run
	Actual   string // node or words in the chat; empty if the chat ended before
}

// Diverged returns the index of the first turn whose words or node differ, or nil if no turn differs.
func (r Replay) Diverged() *int {
	var first *int
	for _, d := range []*Divergence{r.Nodes, r.Words} {
		if d != nil && (first == nil || d.Turn < *first) {
			first = &d.Turn
		}
	}
	return first
}

// ReplayRun starts a chat on the version that a run tested, with the run's start node and request data, and repeats the lines of the run's
// caller. The scenario's mocks answer requests to other systems, as in the run. Requests of later turns are sent, as in any chat. Each call
// of ReplayRun starts another chat.
//
// It returns CodeNotFound if the run is absent, and CodeNotImplemented if Config.Chats is nil. It returns CodeInvalidState if the run has
// not ended, contains no words or tested no pathway, if its pathway or version was deleted, or if a field of the run is invalid for a chat.
// Otherwise it returns the errors of pathway.Service.ReplayChat.
func (s *Service) ReplayRun(ctx context.Context, org callwright.OrgID, id string) (Replay, error) {
	r, snap, err := s.GetRun(ctx, org, id)
	switch {
	case err != nil:
		return Replay{}, err
	case s.cfg.Chats == nil:
		return Replay{}, callwright.Errorf(callwright.CodeNotImplemented, "this server stores no chats in which runs could be replayed")
	case !r.State.Ended():
		return Replay{}, callwright.Errorf(callwright.CodeInvalidState, "the run has not ended: wait until it ends")
	case r.Pathway == "":
		return Replay{}, callwright.Errorf(callwright.CodeInvalidState, "only runs of pathways can be replayed: this run tested a persona")
	case r.Outcome == nil || len(r.Outcome.Turns) == 0:
		return Replay{}, callwright.Errorf(callwright.CodeInvalidState, "nothing was said in the run")
	}
	var said []string
	for _, t := range r.Outcome.Evidence.Turns {
		if t.Role == llm.RoleCaller {
			said = append(said, t.Text)
		}
	}
	chat, err := s.cfg.Chats.ReplayChat(ctx, org, pathway.ReplayRequest{
		ChatRequest: pathway.ChatRequest{
			Pathway: r.Pathway, Version: &pathway.Selector{Number: r.Version}, StartNode: snap.Scenario.StartNode,
			Variables: snap.Scenario.RequestData,
		},
		Said: said, Requests: runner.NewSink(snap.Scenario.Webhooks),
	})
	if err != nil {
		return Replay{}, gone(err, r.Version)
	}
	replay := Replay{Chat: chat.Chat, Said: max(0, len(chat.Turns)-1), Lines: len(said)}
	replay.compare(r.Outcome, chat)
	return replay, nil
}

// gone converts an error of a replay for clients. CodeNotFound, and CodeBadRequest for a field, become CodeInvalidState, because the
// client's request names neither the pathway nor the fields.
func gone(err error, version int) error {
	e, ok := errors.AsType[*callwright.Error](err)
	switch {
	case !ok:
		return err
	case e.Code == callwright.CodeNotFound && e.Field == "pathway_version":
		return callwright.Errorf(callwright.CodeInvalidState, "version %d of the pathway, which the run has tested, was deleted", version)
	case e.Code == callwright.CodeNotFound:
		return callwright.Errorf(callwright.CodeInvalidState, "the pathway that the run has tested was deleted")
	case e.Code == callwright.CodeBadRequest && e.Field != "":
		return callwright.Errorf(callwright.CodeInvalidState, "the run cannot be replayed: its %s %s", e.Field, e.Message)
	}
	return err
}

// compare records the first differences between a run and its chat. Turns that are missing from a completed chat are differences. Turns
// that an unfinished chat did not reach are ignored.
func (r *Replay) compare(o *engine.Outcome, chat pathway.ChatReplay) {
	for i, turn := range o.Turns {
		var actual pathway.ReplayedTurn
		switch {
		case i < len(chat.Turns):
			actual = chat.Turns[i]
		case !chat.Chat.Completed:
			return
		}
		if r.Nodes == nil && turn.Node != actual.Node {
			r.Nodes = &Divergence{Turn: turn.Index, Expected: turn.Node, Actual: actual.Node}
		}
		if words := wordsOf(o, turn); r.Words == nil && words != actual.Said {
			r.Words = &Divergence{Turn: turn.Index, Expected: words, Actual: actual.Said}
		}
	}
}

// wordsOf returns the agent's words in a turn of a run, or "" if the agent said nothing.
func wordsOf(o *engine.Outcome, t engine.Turn) string {
	if turns := o.Evidence.Turns; t.Index < len(turns) && turns[t.Index].Role == llm.RoleAgent {
		return turns[t.Index].Text
	}
	return ""
}
