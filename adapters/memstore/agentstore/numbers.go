package agentstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/persona"
)

type numberKey struct {
	org    callwright.OrgID
	number callwright.PhoneNumber
}

// Numbers stores inbound numbers; it implements agents.NumberStore.
type Numbers struct{ Store *memstore.Store }

// InsertNumber adds a number. It returns CodeConflict if the organization already has the number.
func (s Numbers) InsertNumber(ctx context.Context, n agents.InboundNumber) error {
	return with(ctx, s.Store, func(d *data) error { return d.numbers.Insert(n) })
}

// Number returns one number of an organization, or CodeNotFound if it is absent.
func (s Numbers) Number(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (agents.InboundNumber, error) {
	return read(ctx, s.Store, func(d *data) (agents.InboundNumber, error) { return d.numbers.Find(org, numberKey{org, number}) })
}

// Numbers returns a page of an organization's numbers, sorted by number. It omits released numbers. The page ends early when its size
// exceeds agents.MaxRead.
func (s Numbers) Numbers(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) (found []agents.InboundNumber, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for key, n := range d.numbers.Rows() {
			if key.org == org && !n.Released && key.number.String() > after.ID {
				found = append(found, n)
			}
		}
		slices.SortFunc(found, func(a, b agents.InboundNumber) int { return cmp.Compare(a.Number, b.Number) })
		found = bounded(found, limit, agents.InboundNumber.Size)
		return nil
	})
	return found, err
}

// NumbersOf returns the numbers that each persona answers, by persona id: sorted, at most persona.MaxNumbers each, without released
// numbers.
func (s Numbers) NumbersOf(
	ctx context.Context, org callwright.OrgID, personas []string,
) (map[string][]callwright.PhoneNumber, error) {
	found := map[string][]callwright.PhoneNumber{}
	return found, with(ctx, s.Store, func(d *data) error {
		for key, n := range d.numbers.Rows() {
			if id := n.Agent.PersonaID; key.org == org && !n.Released && slices.Contains(personas, id) {
				found[id] = append(found[id], n.Number)
			}
		}
		for id, numbers := range found {
			slices.Sort(numbers)
			found[id] = numbers[:min(len(numbers), persona.MaxNumbers)]
		}
		return nil
	})
}

// UpdateNumber replaces a number. It returns CodeConflict if the stored version is not n.Version, and CodeNotFound if the number is absent.
func (s Numbers) UpdateNumber(ctx context.Context, n agents.InboundNumber) error {
	return with(ctx, s.Store, func(d *data) error { return d.numbers.Replace(n) })
}
