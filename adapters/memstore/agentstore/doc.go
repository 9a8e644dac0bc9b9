// Package agentstore stores agents, inbound numbers, calls, pathways, chats and personas in a memstore.Store.
package agentstore

import (
	"context"
	"maps"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
)

// data holds the rows of the stores of this package. Its values are never changed in place.
type data struct {
	numbers         map[numberKey]agents.InboundNumber
	calls           map[string]call.Call
	callEvents      map[string]callEvents // by call
	webAgents       map[string]agents.WebAgent
	pathways        map[string]pathway.Pathway
	versions        map[versionKey]pathway.Version
	chats           map[string]pathway.Chat
	chatLogs        map[string][]pathway.Log // by chat, each list in order
	personas        map[string]persona.Persona
	personaVersions map[string]persona.Version
}

// New returns the data of an empty store.
func (data) New() data {
	return data{
		numbers:         map[numberKey]agents.InboundNumber{},
		calls:           map[string]call.Call{},
		callEvents:      map[string]callEvents{},
		webAgents:       map[string]agents.WebAgent{},
		pathways:        map[string]pathway.Pathway{},
		versions:        map[versionKey]pathway.Version{},
		chats:           map[string]pathway.Chat{},
		chatLogs:        map[string][]pathway.Log{},
		personas:        map[string]persona.Persona{},
		personaVersions: map[string]persona.Version{},
	}
}

// Clone returns a copy, which a transaction that fails restores.
func (d data) Clone() data {
	return data{
		numbers: maps.Clone(d.numbers), calls: maps.Clone(d.calls), callEvents: maps.Clone(d.callEvents),
		webAgents: maps.Clone(d.webAgents), pathways: maps.Clone(d.pathways), versions: maps.Clone(d.versions),
		chats: maps.Clone(d.chats), chatLogs: maps.Clone(d.chatLogs), personas: maps.Clone(d.personas), personaVersions: maps.Clone(d.personaVersions),
	}
}

// with calls f with the data, in the transaction of ctx or alone. f must not fail after its first change.
func with(ctx context.Context, s *memstore.Store, f func(d *data) error) error {
	return memory.With(ctx, s.Core(), f)
}
