package pathway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// The limits of chats.
const (
	MaxChats    = 100_000  // of an organization that are not completed
	MaxMessages = 1000     // of both sides in a chat
	MaxText     = 16 << 10 // bytes of what is said at once
	maxState    = 4 << 20  // bytes of a chat's state
)

// How long things take. A turn ends well before the claim on its chat does, so that what it has done is kept, also by a
// database that is away for some seconds.
const (
	turnTime  = 60 * time.Second
	claimTime = turnTime + 2*callwright.LeaseTTL
	writeTime = 20 * time.Second // in all
	writeTry  = 5 * time.Second
	writeRest = 200 * time.Millisecond // between two tries
)

// How long chats are kept.
const (
	taskForget  = "pathway.chats"
	forgetEvery = time.Hour
	idleFor     = 7 * 24 * time.Hour
	forgetBatch = 500
	forgetMost  = 100 // batches at once
)

// ChatRequest begins a chat.
type ChatRequest struct {
	Pathway   string
	Version   *Selector      // nil: what is in production, the draft when nothing is
	StartNode string         // empty: the pathway's own
	Variables map[string]any // for the pathway's texts
}

// ChatTurn is what came of a turn of a chat.
type ChatTurn struct {
	Chat    Chat
	Replies []string // what the agent said; none: nothing
	State   State
	Node    *graph.Node // where the conversation is
	Log     Log
}

var (
	errBusy   = callwright.Errorf(callwright.CodeConflict, "a turn of this chat is being taken")
	errEdited = callwright.Errorf(callwright.CodeInvalidState,
		"the pathway's draft has changed since this chat began: begin another one")
)

// StartChat begins a text conversation with a pathway, and gives the agent's first words. What fails with the model is
// part of the conversation, as on a call: the agent apologizes, and the chat is over. CodeTooManyRequests: the organization
// has MaxChats that are not completed, or MaxTurns that are being taken here.
func (s *Service) StartChat(ctx context.Context, org callwright.OrgID, r ChatRequest) (ChatTurn, error) {
	g, number, err := s.load(ctx, org, r)
	if err != nil {
		return ChatTurn{}, err
	}
	if r.StartNode != "" && g.Node(r.StartNode) == nil {
		return ChatTurn{}, callwright.Invalid("start_node_id", "the pathway has no node %q", r.StartNode)
	}
	end, err := s.turns.begin(org)
	if err != nil {
		return ChatTurn{}, err
	}
	defer end()
	if err := s.roomForChat(ctx, org); err != nil {
		return ChatTurn{}, err
	}
	now := s.cfg.Clock.Now()
	c := Chat{
		ID: s.cfg.IDs.New(), Org: org, Pathway: r.Pathway, Number: number, Hash: g.Hash, CreatedAt: now, Revision: 1,
	}
	state := Begin(r.Variables, r.StartNode)
	return s.take(ctx, g, c, state, conversation.Turn{Kind: conversation.TurnStart}, s.cfg.Chats.InsertChat)
}

// roomForChat refuses what would be more than MaxChats, but for as many as begin at this moment.
func (s *Service) roomForChat(ctx context.Context, org callwright.OrgID) error {
	n, err := s.cfg.Chats.CountChats(ctx, org)
	if err != nil || n < MaxChats {
		return err
	}
	return &callwright.Error{
		Code: callwright.CodeTooManyRequests, RetryAfter: time.Minute,
		Message: fmt.Sprintf("%d chats are not completed, and no more are possible until some are, or are forgotten", n),
	}
}

// load is the graph of a chat that begins.
func (s *Service) load(ctx context.Context, org callwright.OrgID, r ChatRequest) (*graph.Graph, int, error) {
	if r.Version != nil {
		return s.Load(ctx, org, r.Pathway, *r.Version)
	}
	p, err := s.cfg.Store.Pathway(ctx, org, r.Pathway)
	if err != nil {
		return nil, 0, callwright.InField("pathway_id", err)
	}
	return s.Load(ctx, org, r.Pathway, Selector{Number: p.Production})
}

// Say takes a turn of a chat: the caller says a text; one without words is silence. One turn is taken at a time: another
// one meanwhile is CodeConflict and does nothing. A turn is taken to its end also when ctx ends meanwhile, within a
// minute, because what it does to other systems can't be undone; a chat whose turn was cut off by the end of the process
// can go on half a minute later than that, from before the turn. Once the service is closed a turn is CodeUnavailable:
// see Close.
//
// CodeInvalidState: the chat is over or too long, or it is with a draft that has changed since. A version that was
// archived since is no obstacle. CodeTooManyRequests: MaxTurns are being taken here.
func (s *Service) Say(ctx context.Context, org callwright.OrgID, chatID, text string) (ChatTurn, error) {
	if len(text) > MaxText || !utf8.ValidString(text) {
		return ChatTurn{}, callwright.Invalid("message", "must be text of at most %d bytes", MaxText)
	}
	c, err := s.cfg.Chats.Chat(ctx, org, chatID)
	if err != nil {
		return ChatTurn{}, err
	}
	state, err := s.resume(c)
	if err != nil {
		return ChatTurn{}, err
	}
	g, err := s.chatGraph(ctx, c)
	if err != nil {
		return ChatTurn{}, err
	}
	end, err := s.turns.begin(org)
	if err != nil {
		return ChatTurn{}, err
	}
	defer end()
	if err := s.claim(ctx, &c); err != nil {
		return ChatTurn{}, err
	}
	in := conversation.Turn{Kind: conversation.TurnSpeech, Text: text}
	if strings.TrimSpace(text) == "" {
		in = conversation.Turn{Kind: conversation.TurnSilence}
	}
	return s.take(ctx, g, c, state, in, s.cfg.Chats.UpdateChat)
}

// resume gives the state of a chat that can go on now.
func (s *Service) resume(c Chat) (state State, err error) {
	switch {
	case c.Completed:
		return state, callwright.Errorf(callwright.CodeInvalidState, "this chat is over")
	case c.Messages+2 > MaxMessages || len(c.State) > maxState:
		return state, callwright.Errorf(callwright.CodeInvalidState, "this chat is too long: begin another one")
	case c.BusyUntil.After(s.cfg.Clock.Now()):
		return state, errBusy
	}
	return state, json.Unmarshal(c.State, &state)
}

// chatGraph is the graph that a chat has begun with.
func (s *Service) chatGraph(ctx context.Context, c Chat) (*graph.Graph, error) {
	if g := s.graphs.find(c.Hash); g != nil && c.Number > 0 {
		return g, nil
	}
	g, err := s.LoadPinned(ctx, c.Org, c.Pathway, c.Number)
	if err == nil && c.Number == 0 && g.Hash != c.Hash {
		return nil, errEdited
	}
	return g, err
}

// claim takes the right to take a turn. It ends by itself when whoever has it is gone.
func (s *Service) claim(ctx context.Context, c *Chat) error {
	now := s.cfg.Clock.Now()
	c.BusyUntil, c.UpdatedAt = now.Add(claimTime), now
	if err := s.cfg.Chats.UpdateChat(ctx, *c); errors.Is(err, callwright.ErrConflict) {
		return errBusy
	} else if err != nil {
		return err
	}
	c.Revision++
	return nil
}

// take takes one turn of a chat that is nobody else's now, and keeps the chat.
func (s *Service) take(
	ctx context.Context, g *graph.Graph, c Chat, state State, in conversation.Turn, write func(context.Context, Chat) error,
) (ChatTurn, error) {
	ctx = context.WithoutCancel(ctx)
	stepping, cancel := context.WithTimeout(ctx, turnTime)
	defer cancel()
	defer context.AfterFunc(s.turns.stopping, cancel)()
	var said []string
	state, log, failure := s.cfg.Runtime.Step(stepping, g, Agent{Org: c.Org}, state, in, func(step conversation.Step) bool {
		if say, ok := step.(conversation.Say); ok {
			said = append(said, say.Text)
		}
		return true
	})
	raw, err := json.Marshal(state) //nolint:musttag // nobody else reads it: its form is that of the struct
	if err != nil {
		return ChatTurn{}, err
	}
	c.State, c.Messages, c.Completed = raw, len(state.Talk.Messages), state.Over
	c.BusyUntil, c.UpdatedAt = time.Time{}, s.cfg.Clock.Now()
	if err := s.keep(ctx, c, write); err != nil {
		return ChatTurn{}, err
	}
	if _, ofModel := errors.AsType[*llm.Failure](failure); failure != nil && !ofModel {
		return ChatTurn{}, failure // it was broken off; what it has done until then is kept
	}
	turn := ChatTurn{Chat: c, State: state, Node: g.Node(state.Node), Log: log}
	if len(said) > 0 {
		turn.Replies = []string{strings.Join(said, " ")}
	}
	return turn, nil
}

// keep writes a chat after a turn, and tries it again while the database is away: what the turn has done to other systems
// can't be undone. A try whose answer was lost may have been written.
func (s *Service) keep(ctx context.Context, c Chat, write func(context.Context, Chat) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	for again := false; ; again = true {
		try, cancel := context.WithTimeout(ctx, writeTry)
		err := write(try, c)
		cancel()
		switch callwright.CodeOf(err) {
		case callwright.CodeInternal, callwright.CodeUnavailable:
		case callwright.CodeConflict:
			if kept, readErr := s.cfg.Chats.Chat(ctx, c.Org, c.ID); again && readErr == nil && bytes.Equal(kept.State, c.State) {
				return nil
			}
			return err
		default:
			return err
		}
		s.cfg.Logger.ErrorContext(ctx, "keeping a chat", "chat", c.ID, "error", err)
		rest := time.NewTimer(writeRest)
		select {
		case <-ctx.Done():
			rest.Stop()
			return err
		case <-rest.C:
		}
	}
}

// forget is periodic work: chats that nobody has used for a week are removed.
func (s *Service) forget(ctx context.Context, _ callwright.Task, _ int) error {
	for range forgetMost {
		n, err := s.cfg.Chats.ForgetChats(ctx, s.cfg.Clock.Now().Add(-idleFor), forgetBatch)
		if err != nil || n < forgetBatch {
			return err
		}
	}
	return nil
}

// Close refuses further turns of chats and waits for the running ones. If ctx ends first, it cancels them: their callers
// get CodeUnavailable, and what they have done so far is stored, so that another node can continue the chats at once.
// Close then waits for them all the same, and returns ctx's error. It may be called twice.
func (s *Service) Close(ctx context.Context) error {
	t := s.turns
	defer t.stop()
	t.mu.Lock()
	if !t.over {
		t.over = true
		t.settle()
	}
	t.mu.Unlock()
	select {
	case <-t.idle:
		return nil
	case <-ctx.Done():
		t.stop()
		<-t.idle
		return ctx.Err()
	}
}
