package portingstore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/portingtest"
)

func TestRequests(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		portingtest.RunStore(t, func(t *testing.T) (porting.Store, callwright.Atomic) {
			t.Helper()
			db := open(t)
			return portingstore.Requests{DB: db}, db
		}, func(t *testing.T, s porting.Store) []byte {
			t.Helper()
			return storetest.AtRest(t, s.(portingstore.Requests).DB) //nolint:forcetypeassert // it is ours
		})
	})
}

func TestMain(m *testing.M) { storetest.Main(m) }
