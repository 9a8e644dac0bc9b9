package pathway

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// MaxPageOfChats bounds the chats on a page of Chats, and the turns on a page of Chat.
const MaxPageOfChats = 100

// ChatView is a chat with a page of its turns.
type ChatView struct {
	Chat    Chat
	State   State
	Node    *graph.Node // current node; nil if the chat's version can no longer be read
	Refusal error       // error that Say would return now; nil if the chat can continue
	Turns   []Log       // in order; lacks turns that older releases ran without logs
}

// Chat returns a chat with its last turns, at most limit. Unless the parameter before is 0, it returns only turns with a lower number. A
// limit outside 1 to MaxPageOfChats means MaxPageOfChats. It returns CodeNotFound if the organization has no such chat.
func (s *Service) Chat(ctx context.Context, org callwright.OrgID, id string, before, limit int) (ChatView, error) {
	c, err := s.cfg.Chats.Chat(ctx, org, id)
	if err != nil {
		return ChatView{}, err
	}
	v := ChatView{Chat: c}
	if v.State, v.Refusal = s.resume(c); callwright.CodeOf(v.Refusal) == callwright.CodeInternal {
		return ChatView{}, v.Refusal
	}
	g, err := s.chatGraph(ctx, c)
	switch callwright.CodeOf(err) {
	case "":
		v.Node = g.Node(v.State.Node)
	case callwright.CodeInvalidState, callwright.CodeNotFound:
		if v.Refusal == nil {
			v.Refusal = err
		}
	default:
		return ChatView{}, err
	}
	v.Turns, err = s.cfg.Chats.ChatLogs(ctx, org, id, before, pageSize(limit, MaxPageOfChats))
	return v, err
}

// Chats returns a page of the chats of a pathway, newest first and without their State. For the first page the parameter after is zero; for
// a further page it is the Next of the previous page. A limit outside 1 to MaxPageOfChats means MaxPageOfChats. For an absent pathway the
// page is empty.
func (s *Service) Chats(
	ctx context.Context, org callwright.OrgID, pathway string, after callwright.Keyset, limit int,
) (callwright.Page[Chat], error) {
	limit = pageSize(limit, MaxPageOfChats)
	found, err := s.cfg.Chats.ChatsOf(ctx, org, pathway, after, limit+1) // one more chat shows whether another page follows
	if err != nil || len(found) <= limit {
		return callwright.Page[Chat]{Items: found}, err
	}
	last := found[limit-1]
	return callwright.Page[Chat]{Items: found[:limit], Next: callwright.Keyset{At: last.CreatedAt, ID: last.ID}}, nil
}
