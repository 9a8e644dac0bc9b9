package pathway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/node"
)

// The limits of chats.
const (
	MaxChats    = 100_000  // chats of an organization that are not completed
	MaxMessages = 1000     // messages of both sides in a chat; also the maximum of its turns
	MaxText     = 16 << 10 // characters per message
	maxState    = 4 << 20  // bytes of a chat's state
)

// The durations of a turn. A turn ends well before its claim on the chat expires, so that its result can be stored even after an outage of
// the database for some seconds.
const (
	turnTime  = 60 * time.Second
	claimTime = turnTime + 2*node.LeaseTTL
	writeTime = 20 * time.Second // bounds all attempts to store a chat together
	writeTry  = 5 * time.Second
	writeRest = 200 * time.Millisecond // pause between two attempts
)

// The settings of the task that deletes idle chats.
const (
	taskDelete  = "pathway.chats"
	deleteEvery = time.Hour
	idleFor     = 7 * 24 * time.Hour
	deleteBatch = 100 // chats per batch, each with up to MaxMessages logs
	maxDeleted  = 500 // batches per run of the task
)

// ChatRequest is a request to start a chat.
type ChatRequest struct {
	Pathway   string
	Version   *Selector      // nil means the version in production, or the draft if none is in production
	StartNode string         // empty means the graph's start node
	Variables map[string]any // values for the pathway's texts
}

// ChatTurn is the result of one turn of a chat.
type ChatTurn struct {
	Chat    Chat
	Replies []string // the agent's words; may be empty
	State   State
	Node    *graph.Node // current node
	Log     Log
}

var (
	errBusy   = callwright.Errorf(callwright.CodeConflict, "another turn of this chat is running: try again when it has ended")
	errMoved  = callwright.Errorf(callwright.CodeConflict, "the chat has changed since this turn began: read it again")
	errEdited = callwright.Errorf(callwright.CodeInvalidState,
		"the draft has changed since this chat began: start another chat")
)

// StartChat starts a text conversation with a pathway, and returns the agent's first words. If the model fails, the agent apologizes and
// the chat is completed, as on a call; this is not an error. StartChat returns CodeTooManyRequests if the organization has MaxChats, or if
// MaxTurns of its turns run on this node.
func (s *Service) StartChat(ctx context.Context, org callwright.OrgID, r ChatRequest) (ChatTurn, error) {
	c, g, end, err := s.newChat(ctx, org, r)
	if err != nil {
		return ChatTurn{}, err
	}
	defer end()
	state := Begin(r.Variables, r.StartNode)
	return s.runTurn(ctx, g, c, state, conversation.Turn{Kind: conversation.TurnStart}, s.cfg.Chats.InsertChat)
}

// newChat returns a new chat, which is not stored yet, and its graph. The chat counts as a running turn until end is called.
func (s *Service) newChat(ctx context.Context, org callwright.OrgID, r ChatRequest) (c Chat, g *graph.Graph, end func(), err error) {
	g, number, err := s.load(ctx, org, r)
	if err != nil {
		return c, nil, nil, err
	}
	if r.StartNode != "" && g.Node(r.StartNode) == nil {
		return c, nil, nil, callwright.Invalid("start_node_id", "must be the id of a node of the pathway, not %q", r.StartNode)
	}
	if end, err = s.turns.begin(org); err != nil {
		return c, nil, nil, err
	}
	if err := s.roomForChat(ctx, org); err != nil {
		end()
		return c, nil, nil, err
	}
	return Chat{
		ID: s.cfg.IDs.New(), Org: org, Pathway: r.Pathway, Number: number, Hash: g.Hash, CreatedAt: s.cfg.Clock.Now(), Revision: 1,
	}, g, end, nil
}

// roomForChat returns CodeTooManyRequests if the organization has MaxChats. Concurrent starts may exceed the limit slightly.
func (s *Service) roomForChat(ctx context.Context, org callwright.OrgID) error {
	n, err := s.cfg.Chats.CountChats(ctx, org)
	if err != nil || n < MaxChats {
		return err
	}
	return &callwright.Error{
		Code: callwright.CodeTooManyRequests, RetryAfter: time.Minute,
		Message: fmt.Sprintf("an organization can have at most %d open chats: try again when some have ended", MaxChats),
	}
}

// load returns the graph of a new chat and its version number, which is 0 for the draft.
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

// Say runs a turn of a chat with a message of the caller. A blank message means silence. A chat runs one turn at a time: a concurrent turn
// returns CodeConflict and does nothing. A turn continues to its end, within a minute, even if ctx ends, because its effects on other
// systems cannot be undone. If the process dies during a turn, the chat can continue from the state before the turn, after the turn's claim
// has expired. After Close, Say returns CodeUnavailable.
//
// Say returns CodeBadRequest if the text is longer than MaxText or not UTF-8. It returns CodeInvalidState if the chat is completed or too
// long, or if its draft has changed since the chat began. An archived version does not prevent turns. It returns CodeTooManyRequests if
// MaxTurns turns of the organization run on this node.
func (s *Service) Say(ctx context.Context, org callwright.OrgID, chatID, text string) (ChatTurn, error) {
	return s.say(ctx, org, chatID, text, nil)
}

// SayAfter runs a turn like Say, if the chat has exactly the given number of turns. Otherwise it returns CodeConflict, for example because
// the same message was sent before.
func (s *Service) SayAfter(ctx context.Context, org callwright.OrgID, chatID string, turns int, text string) (ChatTurn, error) {
	return s.say(ctx, org, chatID, text, &turns)
}

// say runs a turn of a chat. Unless turns is nil, the chat must have that number of turns.
func (s *Service) say(ctx context.Context, org callwright.OrgID, chatID, text string, turns *int) (ChatTurn, error) {
	if callwright.Longer(text, MaxText) || !utf8.ValidString(text) {
		return ChatTurn{}, callwright.Invalid("message", "must be valid UTF-8 of at most %d characters", MaxText)
	}
	c, err := s.cfg.Chats.Chat(ctx, org, chatID)
	if err != nil {
		return ChatTurn{}, err
	}
	state, err := s.resume(c)
	if err != nil {
		return ChatTurn{}, err
	}
	if turns != nil && state.Turn != *turns {
		return ChatTurn{}, errMoved
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
	return s.runTurn(ctx, g, c, state, conversation.TextTurn(text), s.cfg.Chats.UpdateChat)
}

// resume returns the state of a chat. The error states why the chat cannot continue now.
func (s *Service) resume(c Chat) (state State, err error) {
	if err := json.Unmarshal(c.State, &state); err != nil {
		return state, err
	}
	switch {
	case c.Completed:
		return state, callwright.Errorf(callwright.CodeInvalidState, "the chat is completed: start another one")
	case c.Messages+2 > MaxMessages, state.Turn >= MaxMessages:
		return state, callwright.Errorf(callwright.CodeInvalidState, "the chat has reached its limit of %d messages or turns: start another one", MaxMessages)
	case len(c.State) > maxState:
		return state, callwright.Errorf(callwright.CodeInvalidState, "the chat has more than %d bytes, which is the limit: start another one", maxState)
	case c.BusyUntil.After(s.cfg.Clock.Now()):
		return state, errBusy
	}
	return state, nil
}

// chatGraph returns the graph with which a chat began. It returns an error if the chat began with a draft that has changed since.
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

// claim claims the chat for a turn, or returns CodeConflict if another turn has claimed it. The claim expires after claimTime if the
// process dies.
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

// runTurn runs a turn of a new chat, or of a chat that was claimed for this turn, and stores the chat. A failure of the model is not an
// error.
func (s *Service) runTurn(
	ctx context.Context, g *graph.Graph, c Chat, state State, in conversation.Turn, write chatWrite,
) (ChatTurn, error) {
	ctx = context.WithoutCancel(ctx)
	stepping, cancel := context.WithTimeout(ctx, turnTime)
	defer cancel()
	defer context.AfterFunc(s.turns.stopping, cancel)()
	all := func(conversation.Step) bool { return true }
	before := state
	state, log, failure := s.cfg.Interpreter.Step(stepping, g, Agent{Org: c.Org}, before, in, all)
	c, err := s.storeState(ctx, c, state, write, recorded(log, before, c.CreatedAt))
	if err != nil {
		return ChatTurn{}, err
	}
	if _, ofModel := errors.AsType[*llm.Failure](failure); failure != nil && !ofModel {
		return ChatTurn{}, failure // the turn was canceled; its work so far is stored
	}
	turn := ChatTurn{Chat: c, State: state, Node: g.Node(state.Node), Log: log}
	if log.Said != "" {
		turn.Replies = []string{log.Said}
	}
	return turn, nil
}

// chatWrite is the type of Chats.InsertChat and Chats.UpdateChat.
type chatWrite = func(ctx context.Context, c Chat, logs ...Log) error

// storeState stores a chat with a new state and the logs of its new turns, and returns the chat.
func (s *Service) storeState(ctx context.Context, c Chat, state State, write chatWrite, logs ...Log) (Chat, error) {
	raw, err := json.Marshal(state) //nolint:musttag // the encoding is private
	if err != nil {
		return c, err
	}
	c.State, c.Messages, c.Completed = raw, len(state.Talk.Messages), state.Over
	c.BusyUntil, c.UpdatedAt = time.Time{}, s.cfg.Clock.Now()
	return c, s.storeChat(ctx, c, write, logs)
}

// storeChat stores a chat after a turn. It retries for writeTime while the database is unavailable, because the turn's effects on other
// systems cannot be undone. A failed attempt may have stored the chat nevertheless: then a conflict at a later attempt is no error.
func (s *Service) storeChat(ctx context.Context, c Chat, write chatWrite, logs []Log) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	for again := false; ; again = true {
		try, cancel := context.WithTimeout(ctx, writeTry)
		err := write(try, c, logs...)
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
		s.cfg.Logger.ErrorContext(ctx, "storing a chat failed", "chat", c.ID, "error", err)
		rest := time.NewTimer(writeRest)
		select {
		case <-ctx.Done():
			rest.Stop()
			return err
		case <-rest.C:
		}
	}
}

// deleteOld runs periodically. It deletes chats that have been idle for a week.
func (s *Service) deleteOld(ctx context.Context, _ callwright.Task, _ int) error {
	for range maxDeleted {
		n, err := s.cfg.Chats.DeleteOldChats(ctx, s.cfg.Clock.Now().Add(-idleFor), deleteBatch)
		if err != nil || n < deleteBatch {
			return err
		}
	}
	return nil
}

// Close refuses further turns of chats, and waits for the running turns. If ctx ends first, Close cancels these turns: they return
// CodeUnavailable, and their work so far is stored, so that another node can continue the chats immediately. Close still waits for them,
// and returns ctx's error. It may be called twice.
func (s *Service) Close(ctx context.Context) error {
	t := s.turns
	defer t.stop()
	t.mu.Lock()
	if !t.over {
		t.over = true
		t.closeIdle()
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
