package pathway

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// replayTime bounds a replay. Lines that remain after this time are omitted.
const replayTime = 2 * time.Minute

// ReplayRequest is a request to repeat a conversation as a chat.
type ReplayRequest struct {
	ChatRequest

	Said     []string       // the caller's lines in order
	Requests request.Client // answers the requests of the replayed turns; if nil, they are sent, as in any chat
}

// ChatReplay is the result of a replay: the stored chat and its turns.
type ChatReplay struct {
	Chat  Chat
	Turns []ReplayedTurn // the agent's first turn, and one turn per replayed line
}

// ReplayedTurn describes one turn of the agent in a replay.
type ReplayedTurn struct {
	Said string
	Node string // id of the node at which the turn ended
}

// ReplayChat starts a chat, says the lines of r to its agent, one per turn, and stores the chat, so that Say can continue it. r.Requests
// applies only to the replayed turns: requests of turns that Say adds later are sent, as in any chat. The replay stops early when the
// conversation ends, the model fails, the chat is full, or two minutes have passed.
//
// The chat is stored once, at the end: if ctx ends before, or the process dies, no chat is stored. ReplayChat returns CodeUnavailable if
// ctx has ended, or if the agent has not said its first words within a minute. Otherwise it returns the errors that StartChat returns.
func (s *Service) ReplayChat(ctx context.Context, org callwright.OrgID, r ReplayRequest) (ChatReplay, error) {
	c, g, end, err := s.newChat(ctx, org, r.ChatRequest)
	if err != nil {
		return ChatReplay{}, err
	}
	defer end()
	held, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.turns.stopping, cancel)()
	state, turns, logs, err := s.replay(held, g, c, r)
	if err != nil {
		return ChatReplay{}, err
	}
	c, err = s.storeState(ctx, c, state, s.cfg.Chats.InsertChat, logs...)
	return ChatReplay{Chat: c, Turns: turns}, err
}

// replay runs the turns of a replay. It omits a turn that the time limit interrupts. It returns an error if ctx ends, or if the first turn
// does not finish.
func (s *Service) replay(
	ctx context.Context, g *graph.Graph, c Chat, r ReplayRequest,
) (state State, turns []ReplayedTurn, logs []Log, err error) {
	interpreter := *s.cfg.Interpreter
	if r.Requests != nil {
		interpreter.Requests = r.Requests
	}
	limited, cancel := context.WithTimeout(ctx, replayTime)
	defer cancel()
	state = Begin(r.Variables, r.StartNode)
	in := conversation.Turn{Kind: conversation.TurnStart}
	for {
		next, log, err := s.step(limited, &interpreter, g, c.Org, state, in)
		switch {
		case err != nil && (ctx.Err() != nil || len(turns) == 0):
			return state, nil, nil, err
		case err != nil:
			return state, turns, logs, nil
		}
		logs = append(logs, recorded(log, state, c.CreatedAt))
		state = next
		turns = append(turns, ReplayedTurn{Said: log.Said, Node: state.Node})
		if state.Over || len(turns) > len(r.Said) || len(state.Talk.Messages)+2 > MaxMessages || len(turns) == MaxMessages {
			return state, turns, logs, nil
		}
		in = conversation.TextTurn(r.Said[len(turns)-1])
	}
}

// step runs a turn of a replay within turnTime. A failure of the model ends the conversation, but is not an error.
func (s *Service) step(
	ctx context.Context, interpreter *Interpreter, g *graph.Graph, org callwright.OrgID, state State, in conversation.Turn,
) (State, Log, error) {
	ctx, cancel := context.WithTimeout(ctx, turnTime)
	defer cancel()
	state, log, err := interpreter.Step(ctx, g, Agent{Org: org}, state, in, func(conversation.Step) bool { return true })
	if _, ofModel := errors.AsType[*llm.Failure](err); ofModel && ctx.Err() == nil {
		err = nil
	}
	return state, log, err
}
