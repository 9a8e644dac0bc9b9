package portingstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/porting/manual"
	"github.com/callwright/callwright/porting/manual/manualtest"
)

func TestManualOrders(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		manualtest.RunStore(t, func(t *testing.T) (manual.Store, callwright.Atomic) {
			t.Helper()
			db := open(t)
			return portingstore.ManualOrders{DB: db}, db
		}, func(t *testing.T, s manual.Store) []byte {
			t.Helper()
			return storetest.AtRest(t, s.(portingstore.ManualOrders).DB) //nolint:forcetypeassert // it is ours
		})
	})
}

// TestManualOrdersUseIndexes runs every query of ManualOrders and fails if a query scans the whole table.
func TestManualOrdersUseIndexes(t *testing.T) {
	t.Parallel()
	storetest.UsesIndexes(t, func(ctx context.Context, db *bunstore.DB, now time.Time) (errs []error) {
		s := portingstore.ManualOrders{DB: db}
		_, err := s.Order(ctx, "o")
		errs = append(errs, err, s.UpdateOrder(ctx, manual.Order{Ref: "o"}))
		for _, open := range []bool{true, false} {
			for _, after := range []callwright.Keyset{{}, {At: now, ID: "o"}} {
				_, err := s.Orders(ctx, open, after, 10)
				errs = append(errs, err)
			}
		}
		return errs
	})
}
