package pathwaysapi

import (
	"context"
	"strings"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/pathwaywire"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/pathwaysoas"
)

// CreatePathwayChat serves POST /v1/pathway/chat/create. It starts a chat with a pathway.
func (a *api) CreatePathwayChat(ctx context.Context, req *oas.PathwayChatCreate) (*oas.PathwayChatReply, error) {
	data, err := wire.Values("request_data", req.RequestData.Value)
	if err != nil {
		return nil, err
	}
	request := pathway.ChatRequest{Pathway: wire.ID(req.PathwayID), StartNode: req.StartNodeID.Or(""), Variables: data}
	if version, ok := req.PathwayVersion.Get(); ok {
		selector, err := pathwaywire.Selector(version)
		if err != nil {
			return nil, err
		}
		request.Version = &selector
	}
	turn, err := a.cfg.Pathways.StartChat(ctx, httpapi.Org(ctx), request)
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "chat_id", turn.Chat.ID)
	variables, logs, err := chatFindings(turn)
	if err != nil {
		return nil, err
	}
	return &oas.PathwayChatReply{Data: oas.PathwayChat{
		ChatID: turn.Chat.ID, Message: strings.Join(turn.Replies, " "), Variables: variables, PathwayLogs: logs, Models: chatModels(turn),
	}}, nil
}

// SendPathwayChatMessage serves POST /v1/pathway/chat/{chat_id}. It sends a message to a chat, and returns the state after the turn.
func (a *api) SendPathwayChatMessage(
	ctx context.Context, req *oas.PathwayChatTurn, params oas.SendPathwayChatMessageParams,
) (*oas.PathwayChatStateReply, error) {
	turn, err := a.cfg.Pathways.Say(ctx, httpapi.Org(ctx), params.ChatID, req.Message)
	if err != nil {
		return nil, err
	}
	variables, logs, err := chatFindings(turn)
	if err != nil {
		return nil, err
	}
	state := oas.PathwayChatState{
		ChatID: turn.Chat.ID, PathwayID: turn.Chat.Pathway, PathwayVersion: turn.Chat.Number,
		AssistantResponses: turn.Replies, ChatHistory: chatHistory(turn.State.Talk.Messages),
		Variables: variables, Completed: turn.Chat.Completed, PathwayLogs: logs, Models: chatModels(turn),
	}
	state.CurrentNodeID.SetToNull()
	state.CurrentNodeName.SetToNull()
	if turn.Node != nil {
		state.CurrentNodeID.SetTo(turn.Node.ID)
		state.CurrentNodeName.SetTo(turn.Node.Name)
	}
	return &oas.PathwayChatStateReply{Data: state}, nil
}

// modelUse converts the use of a model to the generated type.
func modelUse(u pathwaywire.ModelUse) oas.ModelUse {
	return oas.ModelUse{
		Model: u.Model, Replaced: u.Replaced, Cause: u.Cause, Requests: u.Requests, Failed: u.Failed, Uncounted: u.Uncounted,
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CachedTokens: u.CachedTokens, Cost: u.Cost,
	}
}

// chatModels returns the models that answered in a turn.
func chatModels(turn pathway.ChatTurn) (models []oas.ModelUse) {
	for _, u := range turn.Log.Models {
		models = append(models, modelUse(pathwaywire.UseOf(u)))
	}
	return models
}

// chatFindings returns the variables after a turn, and the log of the turn.
func chatFindings(turn pathway.ChatTurn) (oas.FreeObject, oas.PathwayTurnLogs, error) {
	variables, err := wire.Raw(turn.State.Variables)
	if err != nil {
		return nil, nil, err
	}
	lines, err := pathwaywire.Lines([]pathway.Log{turn.Log}, turn.Chat.UpdatedAt)
	logs := make(oas.PathwayTurnLogs, len(lines))
	for i, l := range lines {
		logs[i] = oas.CallPathwayLog{
			Role: oas.CallPathwayLogRole(l.Role), Text: l.Text, Decision: l.Decision, PathwayInfo: l.Info, ChosenNodeID: l.ChosenNode,
			Tag: l.Tag, CreatedAt: l.CreatedAt,
		}
	}
	return variables, logs, err
}

// chatHistory returns the messages of the caller and the agent. It omits results of tools and empty messages.
func chatHistory(messages []llm.Message) []oas.PathwayChatMessage {
	history := []oas.PathwayChatMessage{}
	for _, m := range messages {
		switch {
		case m.Text == "":
		case m.Role == llm.RoleCaller:
			history = append(history, oas.PathwayChatMessage{Role: oas.PathwayChatMessageRoleUser, Content: m.Text})
		case m.Role == llm.RoleAgent:
			history = append(history, oas.PathwayChatMessage{Role: oas.PathwayChatMessageRoleAssistant, Content: m.Text})
		}
	}
	return history
}
