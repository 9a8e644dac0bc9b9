package portingstore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/porting/manual"
	"github.com/callwright/callwright/porting/manual/manualtest"
)

func TestManualOrders(t *testing.T) {
	t.Parallel()
	manualtest.RunStore(t, func(*testing.T) (manual.Store, callwright.Atomic) {
		s := memstore.New()
		return portingstore.ManualOrders{Store: s}, s
	}, nil)
}
