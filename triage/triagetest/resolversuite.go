package triagetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// ResolverHarness holds the resolver that RunResourceResolver tests, and its resources.
type ResolverHarness struct {
	Resolver triage.ResourceResolver
	Org      callwright.OrgID // owner of the resources in IDs
	Other    callwright.OrgID // an organization without these resources
	IDs      []string         // ids of at least two resources
}

// RunResourceResolver is the conformance suite of triage.ResourceResolver.
func RunResourceResolver(t *testing.T, h ResolverHarness) {
	t.Helper()
	t.Run("finds its organization's resources", h.finds)
	t.Run("finds none of another organization", h.hides)
	t.Run("takes as many ids as an issue has", h.findsMany)
	t.Run("reads evidence", h.reads)
	t.Run("serves several at a time", h.servesSeveral)
}

// want checks that Find returns the items of exactly the ids in want.
func (h ResolverHarness) want(t *testing.T, org callwright.OrgID, ids []string, want ...string) {
	t.Helper()
	found, err := h.Resolver.Find(t.Context(), org, ids)
	if got := slices.Sorted(maps.Keys(found)); err != nil || !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("found %v, %v; want %v", got, err, want)
	}
}

func (h ResolverHarness) finds(t *testing.T) {
	h.want(t, h.Org, h.IDs, h.IDs...)
	h.want(t, h.Org, []string{"absent", h.IDs[1], ""}, h.IDs[1])
	h.want(t, h.Org, []string{h.IDs[0], h.IDs[0]}, h.IDs[0])
	h.want(t, h.Org, nil)
}

func (h ResolverHarness) hides(t *testing.T) {
	h.want(t, h.Other, h.IDs)
	for org, id := range map[callwright.OrgID]string{h.Other: h.IDs[0], h.Org: "absent"} {
		if e, err := h.Resolver.Read(t.Context(), org, id); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s of %s gave %+v, %v; want not found", id, org, e, err)
		}
	}
}

func (h ResolverHarness) findsMany(t *testing.T) {
	ids := slices.Clone(h.IDs)
	for n := len(ids); n < triage.MaxResources; n++ {
		ids = append(ids, fmt.Sprint("absent-", n))
	}
	h.want(t, h.Org, ids, h.IDs...)
}

func (h ResolverHarness) reads(t *testing.T) {
	for _, id := range h.IDs {
		e, err := h.Resolver.Read(t.Context(), h.Org, id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if _, err := json.Marshal(e.Facts); err != nil {
			t.Errorf("%s: the facts have no JSON form: %v", id, err)
		}
	}
}

func (h ResolverHarness) servesSeveral(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			h.want(t, h.Org, h.IDs, h.IDs...)
			if _, err := h.Resolver.Read(t.Context(), h.Org, h.IDs[0]); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
