package pathways

import (
	"context"
	"encoding/json"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// chatList holds the data of the page that lists a pathway's chats.
type chatList struct {
	Pathway pathway.Pathway
	Chats   []pathway.Chat
	Next    string // address of the next page, or empty on the last
}

func (p pages) chats(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	about, err := p.cfg.Pathways.Get(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	found, err := p.cfg.Pathways.Chats(ctx, r.Org(), about.ID, after, pageSize)
	if err != nil {
		return nil, err
	}
	return &page.View{Page: "chats", Title: "Chats with " + about.Name, Data: chatList{about, found.Items, r.Next(found.Next)}}, nil
}

// beginning holds the fields of the form that begins a chat, as typed.
type beginning struct{ Node, Variables string }

// beginFields maps the domain's names of fields to the names of the form's inputs.
var beginFields = map[string]string{"start_node_id": "start_node", "pathway_version": ""}

// begin starts a chat with a version. If the chat is refused, begin shows the page of the version again.
func (p pages) begin(ctx context.Context, r *page.Request) (page.Answer, error) {
	number, err := numberOf(r.PathValue("number"))
	if err != nil {
		return nil, err
	}
	typed := beginning{r.Field("start_node"), r.PostForm.Get("variables")}
	variables, err := variablesOf(typed.Variables)
	var turn pathway.ChatTurn
	if err == nil {
		turn, err = p.cfg.Pathways.StartChat(ctx, r.Org(), pathway.ChatRequest{
			Pathway: r.PathValue("id"), Version: &pathway.Selector{Number: number}, StartNode: typed.Node, Variables: variables,
		})
	}
	if err == nil {
		return page.SeeOther{To: page.Path("/pathways", turn.Chat.Pathway, "chats", turn.Chat.ID)}, nil
	}
	faults, mendable := page.FaultsOf(err, beginFields, "start_node", "variables")
	if !mendable {
		return nil, err
	}
	return p.versionPage(ctx, r, version{editor: editor{Faults: faults}, Begin: typed})
}

// variablesOf parses the variables of a form, a JSON object. An empty text means no variables. Any other text causes CodeBadRequest.
func variablesOf(text string) (variables map[string]any, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &variables); err != nil {
		return nil, callwright.Invalid("variables", `must be a JSON object, such as {"name": "Robin"}`)
	}
	return variables, nil
}
