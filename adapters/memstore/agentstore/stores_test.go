package agentstore_test

import (
	"testing"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
)

func TestStores(t *testing.T) {
	t.Parallel()
	agentstest.RunCallStore(t, func(*testing.T) call.Store { return agentstore.Calls{Store: memstore.New()} }, nil)
	agentstest.RunWebAgentStore(t, func(*testing.T) agents.WebAgents { return agentstore.WebAgents{Store: memstore.New()} }, nil)
	agentstest.RunPathwayStore(t, func(*testing.T) pathway.Store { return agentstore.Pathways{Store: memstore.New()} }, nil)
	agentstest.RunChatStore(t, func(*testing.T) (pathway.Store, pathway.Chats) {
		s := memstore.New()
		return agentstore.Pathways{Store: s}, agentstore.Chats{Store: s}
	})
	agentstest.RunPathwayCrowd(t, func(*testing.T) agentstest.PathwayStores {
		s := memstore.New()
		return agentstest.PathwayStores{
			Pathways: agentstore.Pathways{Store: s}, Chats: agentstore.Chats{Store: s}, Atomic: s, Work: memstore.NewWork(s, nil),
		}
	})
	agentstest.RunPersonaStore(t, func(*testing.T) persona.Store { return agentstore.Personas{Store: memstore.New()} }, nil)
	agentstest.RunPersonaDeletion(t, func(*testing.T) agentstest.PersonaStores {
		s := memstore.New()
		return agentstest.PersonaStores{
			Numbers: agentstore.Numbers{Store: s}, Agents: agentstore.WebAgents{Store: s}, Personas: agentstore.Personas{Store: s}, Atomic: s,
		}
	})
	agentstest.RunNumberStore(t, func(*testing.T) agents.NumberStore { return agentstore.Numbers{Store: memstore.New()} }, nil)
}
