package platform

import (
	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/remotebrain"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
)

// remoteBrain returns a function that lets services lead calls: see call.Config.RemoteBrain.
func remoteBrain(sender remotebrain.Sender, rt callwright.Runtime) func(call.Call, func(pathway.Log)) (conversation.Brain, error) {
	return func(c call.Call, observe func(pathway.Log)) (conversation.Brain, error) {
		direction := remotebrain.Outbound
		if c.Inbound {
			direction = remotebrain.Inbound
		}
		return remotebrain.New(remotebrain.Config{
			Sender: sender, URL: c.Agent.Brain, Org: c.Org, Conversation: c.ID, Language: c.Agent.Language, From: c.From, To: c.To,
			Direction: direction, TransferTo: c.Agent.TransferTo.String(), Variables: c.Variables, Lines: c.Agent.Idle.Lines(),
			Silences: c.Agent.Idle.Asks(), Observe: observe, Runtime: rt,
		})
	}
}
