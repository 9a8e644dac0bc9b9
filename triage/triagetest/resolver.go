package triagetest

import (
	"context"
	"maps"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// Resolver is an in-memory triage.ResourceResolver that counts its calls. It is safe for concurrent use. The zero Resolver contains no
// resources.
type Resolver struct {
	mu    sync.Mutex
	kept  map[libraryKey]resource
	finds int
	reads int
}

var _ triage.ResourceResolver = (*Resolver)(nil)

type libraryKey struct {
	org callwright.OrgID
	id  string
}

type resource struct {
	item     triage.Item
	evidence triage.Evidence
}

// Add adds a resource of an organization, or replaces it.
func (l *Resolver) Add(org callwright.OrgID, id string, item triage.Item, evidence triage.Evidence) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil {
		l.kept = map[libraryKey]resource{}
	}
	l.kept[libraryKey{org, id}] = resource{item, evidence}
}

// Delete deletes a resource of an organization. An absent resource is no error.
func (l *Resolver) Delete(org callwright.OrgID, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.kept, libraryKey{org, id})
}

// Find returns the items of the ids that were added for the organization and not deleted. It also returns the error of ctx, if any.
func (l *Resolver) Find(
	ctx context.Context, org callwright.OrgID, ids []string,
) (map[string]triage.Item, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finds++
	found := make(map[string]triage.Item, len(ids))
	for _, id := range ids {
		if r, ok := l.kept[libraryKey{org, id}]; ok {
			r.item.Metadata = maps.Clone(r.item.Metadata)
			found[id] = r.item
		}
	}
	return found, ctx.Err()
}

// Read returns the evidence of an added resource and the error of ctx, if any, or CodeNotFound if the resource is absent.
func (l *Resolver) Read(ctx context.Context, org callwright.OrgID, id string) (triage.Evidence, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	r, ok := l.kept[libraryKey{org, id}]
	if !ok {
		return triage.Evidence{}, callwright.NotFound("resource")
	}
	return r.evidence, ctx.Err()
}

// Finds returns the number of calls of Find so far.
func (l *Resolver) Finds() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.finds
}

// Reads returns the number of calls of Read so far.
func (l *Resolver) Reads() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reads
}
