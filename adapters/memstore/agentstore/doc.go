// Package agentstore stores agents, inbound numbers, calls, pathways, chats and personas in a memstore.Store.
package agentstore

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
)

// data contains the rows of all stores in this package.
type data struct {
	*memory.Tables
	numbers         *memory.Rows[numberKey, agents.InboundNumber]
	calls           *memory.Rows[string, call.Call]
	callEvents      *memory.Table[string, callEvents] // by call id
	webAgents       *memory.Rows[string, agents.WebAgent]
	pathways        *memory.Rows[string, pathway.Pathway]
	versions        *memory.Rows[versionKey, pathway.Version]
	chats           *memory.Rows[string, pathway.Chat]
	chatLogs        *memory.Table[string, []pathway.Log] // by chat id, each list sorted by Turn
	personas        *memory.Rows[string, persona.Persona]
	personaVersions *memory.Rows[string, persona.Version]
}

// New returns empty data.
func (data) New() data {
	t := &memory.Tables{}
	return data{
		Tables: t,
		numbers: memory.NewRows(t, "inbound number", func(n *agents.InboundNumber) (callwright.OrgID, numberKey, *int64) {
			return n.Org, numberKey{n.Org, n.Number}, &n.Version
		}),
		calls:      memory.NewRows(t, "call", func(c *call.Call) (callwright.OrgID, string, *int64) { return c.Org, c.ID, &c.Version }),
		callEvents: memory.NewTable[string, callEvents](t),
		webAgents:  memory.NewRows(t, "agent", func(a *agents.WebAgent) (callwright.OrgID, string, *int64) { return a.Org, a.ID, &a.Version }),
		pathways:   memory.NewRows(t, "pathway", func(p *pathway.Pathway) (callwright.OrgID, string, *int64) { return p.Org, p.ID, &p.Revision }),
		versions: memory.NewRows(t, "pathway version", func(v *pathway.Version) (callwright.OrgID, versionKey, *int64) {
			return v.Org, versionKey{v.Pathway, v.Number}, nil
		}),
		chats:    memory.NewRows(t, "chat", func(c *pathway.Chat) (callwright.OrgID, string, *int64) { return c.Org, c.ID, &c.Revision }),
		chatLogs: memory.NewTable[string, []pathway.Log](t),
		personas: memory.NewRows(t, "persona", func(p *persona.Persona) (callwright.OrgID, string, *int64) { return p.Org, p.ID, &p.Revision }),
		personaVersions: memory.NewRows(t, "persona version", func(v *persona.Version) (callwright.OrgID, string, *int64) {
			return v.Org, v.ID, &v.Revision
		}),
	}
}

// with calls f with the data, in the transaction of ctx or, without one, while no transaction runs. f must not change data and then return
// an error, because only a failed transaction restores the data.
func with(ctx context.Context, s *memstore.Store, f func(d *data) error) error {
	return memory.With(ctx, s.Core(), f)
}

// read calls f with the data in the same way as with, and returns the result of f.
func read[V any](ctx context.Context, s *memstore.Store, f func(d *data) (V, error)) (V, error) {
	return memory.Read(ctx, s.Core(), f)
}
