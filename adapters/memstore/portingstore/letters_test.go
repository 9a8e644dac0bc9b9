package portingstore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/loa/loatest"
)

func TestLetters(t *testing.T) {
	t.Parallel()
	loatest.RunStore(t, func(*testing.T) (loa.Store, callwright.Atomic) {
		s := memstore.New()
		return portingstore.Letters{Store: s}, s
	}, nil)
}

func TestLetterRaces(t *testing.T) {
	t.Parallel()
	loatest.RunRaces(t, func(*testing.T) loatest.Stores {
		s := memstore.New()
		return loatest.Stores{Requests: portingstore.Requests{Store: s}, Letters: portingstore.Letters{Store: s}, Atomic: s}
	})
}
