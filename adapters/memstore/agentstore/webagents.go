package agentstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/agents"
)

// WebAgents implements agents.WebAgents in memory.
type WebAgents struct{ Store *memstore.Store }

// InsertAgent adds an agent, or returns CodeConflict if its ID is already stored.
func (s WebAgents) InsertAgent(ctx context.Context, a agents.WebAgent) error {
	return with(ctx, s.Store, func(d *data) error { return d.webAgents.Insert(a) })
}

// Agent returns an agent, or CodeNotFound if the organization has no such agent.
func (s WebAgents) Agent(ctx context.Context, org callwright.OrgID, id string) (agents.WebAgent, error) {
	return read(ctx, s.Store, func(d *data) (agents.WebAgent, error) { return d.webAgents.Find(org, id) })
}

// Agents returns up to limit of an organization's agents after a keyset, oldest first. The page ends early when its size exceeds
// agents.MaxRead.
func (s WebAgents) Agents(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) (found []agents.WebAgent, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, a := range d.webAgents.Rows() {
			if a.Org == org && cmp.Or(a.CreatedAt.Compare(after.At), cmp.Compare(a.ID, after.ID)) > 0 {
				found = append(found, a)
			}
		}
		slices.SortFunc(found, func(a, b agents.WebAgent) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
		})
		found = bounded(found, limit, agents.WebAgent.Size)
		return nil
	})
	return found, err
}

// bounded returns copies of the first items, at most limit. It stops after the item that makes the total size exceed agents.MaxRead, but
// never before the second item.
func bounded[T any](items []T, limit int, size func(T) int) []T {
	total := 0
	for i, item := range items[:min(limit, len(items))] {
		if total += size(item); total > agents.MaxRead && i > 0 {
			limit = i + 1
			break
		}
	}
	return memory.Clone(items[:min(limit, len(items))])
}

// CountAgents returns the number of an organization's agents.
func (s WebAgents) CountAgents(ctx context.Context, org callwright.OrgID) (int, error) {
	return read(ctx, s.Store, func(d *data) (int, error) {
		return d.webAgents.Count(func(a agents.WebAgent) bool { return a.Org == org })
	})
}

// UpdateAgent replaces an agent. It returns CodeNotFound if the organization has no such agent, and CodeConflict if the stored version
// differs.
func (s WebAgents) UpdateAgent(ctx context.Context, a agents.WebAgent) error {
	return with(ctx, s.Store, func(d *data) error { return d.webAgents.Replace(a) })
}

// DeleteAgent deletes an agent, or returns CodeNotFound if the organization has no such agent.
func (s WebAgents) DeleteAgent(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error { return d.webAgents.DeleteExisting(org, id) })
}
