package pathway_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// slowStore is a store that counts its reads of pathways and blocks each of them until the test closes the channel.
type slowStore struct {
	pathway.Store
	may     chan struct{} // closed to let reads continue; nil means immediately
	reading atomic.Int32
}

func (s *slowStore) Pathway(ctx context.Context, org callwright.OrgID, id string) (pathway.Pathway, error) {
	if s.may != nil {
		s.reading.Add(1)
		<-s.may
	}
	return s.Store.Pathway(ctx, org, id)
}

// TestDocumentsAtOnceAreBounded checks how many pathways the organizations can read, compare or fork concurrently. The store does not
// answer during the test.
func TestDocumentsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		read    func(o *office, org callwright.OrgID, id string) error
		one     int32 // concurrent readers if one organization reads
		of8     int32 // concurrent readers if eight organizations read
		waiting int32 // how many of 80 requests exceed the limits and fail after the wait
	}{
		"diff": {func(o *office, org callwright.OrgID, id string) error {
			_, err := o.Diff(context.Background(), org, id, 0, 1)
			return err
		}, 2, 8, 72},
		"get": {func(o *office, org callwright.OrgID, id string) error {
			_, err := o.Get(context.Background(), org, id)
			return err
		}, 4, 16, 64},
		"version": {func(o *office, org callwright.OrgID, id string) error {
			_, _, err := o.Version(context.Background(), org, id, 1)
			return err
		}, 4, 16, 64},
		"fork": {func(o *office, org callwright.OrgID, id string) error {
			_, err := o.Fork(context.Background(), org, id, 1, "F", nil)
			return err
		}, 4, 16, 64},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := new(slowStore)
				o := newOffice(t, func(c *pathway.Config) { store.Store, c.Store = c.Store, store })
				ids := map[callwright.OrgID]string{}
				var busy, done atomic.Int32
				start := func(org callwright.OrgID) {
					go func() {
						err := c.read(o, org, ids[org])
						after, _ := callwright.RetryAfter(err)
						switch {
						case errors.Is(err, callwright.ErrUnavailable) && after > 0:
							busy.Add(1)
						case err != nil:
							t.Error(err)
						default:
							done.Add(1)
						}
					}()
				}
				for i := range 8 {
					org := callwright.OrgID(fmt.Sprint(i))
					p := o.createFor(t, org, days("Draft?"))
					if _, err := o.StoreVersion(t.Context(), org, p.ID, "V", days("One?")); err != nil {
						t.Fatal(err)
					}
					ids[org] = p.ID
				}
				store.may = make(chan struct{})
				for range 10 {
					start("0")
				}
				synctest.Wait()
				if n := store.reading.Load(); n != c.one {
					t.Errorf("%d readers of one organization are in the store, want %d", n, c.one)
				}
				for i := range 70 {
					start(callwright.OrgID(fmt.Sprint(1 + i%7)))
				}
				synctest.Wait()
				if n := store.reading.Load(); n != c.of8 {
					t.Errorf("%d readers are in the store, want %d", n, c.of8)
				}
				<-time.After(time.Minute)
				if n := busy.Load(); n != c.waiting {
					t.Errorf("%d requests were refused, want %d", n, c.waiting)
				}
				close(store.may)
				synctest.Wait()
				start("0")
				synctest.Wait()
				if n := done.Load(); n != 80-c.waiting+1 {
					t.Errorf("%d requests were served, want %d", n, 80-c.waiting+1)
				}
			})
		})
	}
}
