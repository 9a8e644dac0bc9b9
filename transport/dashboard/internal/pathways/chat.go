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

// The maximum numbers of turns and of messages on a chat's page.
const (
	turnsPage    = 50
	messagesPage = 100 // for chats without logged turns
)

// chat holds the data of a chat's page.
type chat struct {
	pathway.ChatView

	Number  string        // number of the version
	Node    string        // the name of the current node
	Busy    bool          // a turn is running
	Words   []llm.Message // the last messages, if the page has no logged turns
	Text    string        // the refused message
	Faults  page.Faults
	Earlier string // address of the earlier turns, or empty if none exist
	Later   string
}

// Open reports whether the page shows the details of a turn expanded, as it does for the newest turn.
func (c chat) Open(l pathway.Log) bool { return l.Turn == c.State.Turn }

// RefusalText returns the reason why the chat accepts no turn.
func (c chat) RefusalText() string { return callwright.MessageOf(c.Refusal) }

func (p pages) chat(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.chatPage(ctx, r, chat{})
}

// chatPage shows a chat. If c has faults, it shows the form again, with status 422. The page is updated live while a turn runs, unless the
// form contains a refused message, which an update would erase.
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
	if c.Busy && c.Text == "" { // a live update would erase the text
		view.Live = []string{"chat"}
	}
	return view, nil
}

// chatOf returns the chat that the address names, with up to turnsPage turns before the given turn, or with the newest turns if it is 0. A
// chat of another pathway causes CodeNotFound.
func (p pages) chatOf(ctx context.Context, r *page.Request, before int) (pathway.ChatView, error) {
	v, err := p.cfg.Pathways.Chat(ctx, r.Org(), r.PathValue("chat"), before, turnsPage)
	if err == nil && v.Chat.Pathway != r.PathValue("id") {
		err = callwright.NotFound("chat")
	}
	return v, err
}

// turnOf parses the number of a turn. For an empty text it returns 0, which means the newest turns. Any other text causes CodeBadRequest.
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

// say adds a turn to a chat. If the turn is refused, say shows the chat with the message again. A form that is submitted twice adds only
// one turn, because the form's field "turns" holds the chat's number of turns.
func (p pages) say(ctx context.Context, r *page.Request) (page.Answer, error) {
	if _, err := p.chatOf(ctx, r, 1); err != nil {
		return nil, err
	}
	turns, err := strconv.Atoi(r.Field("turns"))
	if err != nil {
		return nil, callwright.Invalid("turns", "must be a whole number")
	}
	text := strings.ReplaceAll(r.Field("message"), "\r\n", "\n")
	_, err = p.cfg.Pathways.SayAfter(ctx, r.Org(), r.PathValue("chat"), turns, text)
	if err == nil { // a fragment would move the focus away from the field below the newest turn
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
