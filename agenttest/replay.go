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

// Chats holds conversations again as chats; pathway.Service implements it.
type Chats interface {
	// ReplayChat starts a chat with the lines of a caller: see pathway.Service.ReplayChat.
	ReplayChat(ctx context.Context, org callwright.OrgID, r pathway.ReplayRequest) (pathway.ChatReplay, error)
}

// Replay is a chat in which the caller of a run has said its lines again.
type Replay struct {
	Chat  pathway.Chat
	Said  int         // lines that were said
	Lines int         // lines of the caller in the run
	Nodes *Divergence // the first turn after which the agent is at another node; nil: none
	Words *Divergence // the first turn in which the agent says something else; nil: none
}

// Divergence is a turn of the agent that is not as in the run.
type Divergence struct {
	Turn     int    // index in the run's Evidence.Turns
	Expected string // in the run
	Actual   string // in the chat; empty if it has ended before
}

// Diverged returns the index of the first turn whose words or node differ; nil: none does.
func (r Replay) Diverged() *int {
	var first *int
	for _, d := range []*Divergence{r.Nodes, r.Words} {
		if d != nil && (first == nil || d.Turn < *first) {
			first = &d.Turn
		}
	}
	return first
}

// ReplayRun starts a chat on the version that a run has tested, with the run's start node and request data, and says the lines of
// the run's caller again. Requests to other systems are answered by the mocks of the scenario, as in the run; those of turns that
// people add are sent, as in any chat. Each call starts another chat.
//
// CodeNotFound: the organization has no such run. CodeInvalidState: it has not ended, nothing was said in it, it has tested no
// pathway, or its pathway or version was deleted. The other errors are those of pathway.Service.ReplayChat.
func (s *Service) ReplayRun(ctx context.Context, org callwright.OrgID, id string) (Replay, error) {
	r, snap, err := s.GetRun(ctx, org, id)
	switch {
	case err != nil:
		return Replay{}, err
	case s.cfg.Chats == nil:
		return Replay{}, callwright.Errorf(callwright.CodeNotImplemented, "this program holds no chats")
	case !r.State.Ended():
		return Replay{}, callwright.Errorf(callwright.CodeInvalidState, "the run has not ended: replay it when it has")
	case r.Pathway == "":
		return Replay{}, callwright.Errorf(callwright.CodeInvalidState, "only runs of pathways can be replayed, and this one has tested a persona")
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

// gone returns the error of a replay. What the request does not name, and is not there any more, is no CodeNotFound.
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
		return callwright.Errorf(callwright.CodeInvalidState, "the run cannot be replayed: %s %s", e.Field, e.Message)
	}
	return err
}

// compare notes where a chat differs from a run. Turns that the chat did not get to for want of time are not compared.
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

// wordsOf returns what the agent said in a turn of a run.
func wordsOf(o *engine.Outcome, t engine.Turn) string {
	if turns := o.Evidence.Turns; t.Index < len(turns) && turns[t.Index].Role == llm.RoleAgent {
		return turns[t.Index].Text
	}
	return ""
}
