package portingstore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/portingtest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	portingtest.RunStore(t, func(*testing.T) (porting.Store, callwright.Atomic) {
		s := memstore.New()
		return portingstore.Requests{Store: s}, s
	}, nil)
}
