package pathways

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// The elements of a page of a chat.
const (
	turnsPage    = 50
	messagesPage = 100 // of the words of a chat whose turns have no logs
)

// chat is the page of a chat.
type chat struct {
	pathway.ChatView

	Number  string        // of the version
	Node    string        // the name of the current node
	Busy    bool          // a turn is running
	Words   []llm.Message // the last messages, if the turns of the page have no logs
	Text    string        // that was refused
	Faults  page.Faults
	Earlier string // address of the turns before; empty: there are none
	Later   string
}

// Open reports whether the log of a turn is open, which is true for the newest.
func (c chat) Open(l pathway.Log) bool { return l.Turn == c.State.Turn }

// RefusalText returns why the chat takes no turn.
func (c chat) RefusalText() string { return callwright.MessageOf(c.Refusal) }

func (p pages) chat(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.chatPage(ctx, r, chat{})
}

// chatPage shows a chat; with faults, its form is shown again. It is live while a turn runs, unless a text waits for the end of that.
func (p pages) chatPage(ctx context.Context, r *page.Request, c chat) (page.Answer, error) {
	before, err := turnOf(r.Query("before"))
	if err != nil {
		return nil, err
	}
	if c.ChatView, err = p.chatOf(ctx, r, before); err != nil {
		return nil, err
	}
	c.Number, c.Node = strconv.Itoa(c.Chat.Number), c.State.Node
	if n := c.ChatView.Node; n != nil && n.Name != "" {
		c.Node = n.Name
	}
	c.Busy = errors.Is(c.Refusal, callwright.ErrConflict)
	if len(c.Turns) == 0 {
		c.Words = c.State.Talk.Messages[max(0, len(c.State.Talk.Messages)-messagesPage):]
	} else if first := c.Turns[0].Turn; first > 1 {
		c.Earlier = r.With("before", strconv.Itoa(first))
	}
	if before > 0 && before <= c.State.Turn {
		c.Later = r.With("before", strconv.Itoa(before+turnsPage))
	}
	view := &page.View{Page: "chat", Title: "Chat with a pathway", Data: c}
	if c.Faults != nil {
		view.Status = http.StatusUnprocessableEntity
	}
	if c.Busy && c.Text == "" { // a text would be lost
		view.Live = []string{"chat"}
	}
	return view, nil
}

// chatOf returns a chat of the pathway of the address, with its turns before one of them.
func (p pages) chatOf(ctx context.Context, r *page.Request, before int) (pathway.ChatView, error) {
	v, err := p.cfg.Pathways.Chat(ctx, r.Org(), r.PathValue("chat"), before, turnsPage)
	if err == nil && v.Chat.Pathway != r.PathValue("id") {
		err = callwright.NotFound("chat")
	}
	return v, err
}

// turnOf reads the number of a turn; 0 for none.
func turnOf(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 2*pathway.MaxMessages {
		return 0, callwright.Invalid("before", "must be the number of a turn, from 1 to %d", 2*pathway.MaxMessages)
	}
	return n, nil
}

// say takes a turn of a chat, and shows the chat with the message if that is refused. A form that is sent twice takes one turn: its
// field turns is the chat's number of turns.
func (p pages) say(ctx context.Context, r *page.Request) (page.Answer, error) {
	if _, err := p.chatOf(ctx, r, 1); err != nil {
		return nil, err
	}
	turns, err := strconv.Atoi(r.Field("turns"))
	if err != nil {
		return nil, callwright.Invalid("turns", "must be a number")
	}
	text := strings.ReplaceAll(r.Field("message"), "\r\n", "\n")
	_, err = p.cfg.Pathways.SayAfter(ctx, r.Org(), r.PathValue("chat"), turns, text)
	if err == nil { // without a fragment, which would take the focus from the field below the newest turn
		return page.SeeOther{To: page.Path("/pathways", r.PathValue("id"), "chats", r.PathValue("chat"))}, nil
	}
	faults, mendable := page.FaultsOf(err, nil, "message")
	if !mendable {
		return nil, err
	}
	if text, whole := faults[""]; whole {
		faults[""] = "Nothing was said: " + text + "."
	}
	if errors.Is(err, callwright.ErrConflict) {
		faults[""] += " If you sent a message twice, it was taken once: say this only if it is not above."
	}
	return p.chatPage(ctx, r, chat{Text: text, Faults: faults})
}
