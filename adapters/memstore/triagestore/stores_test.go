package triagestore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

func TestStores(t *testing.T) {
	t.Parallel()
	issues := func(*testing.T) (triage.Store, callwright.Atomic) {
		s := memstore.New()
		return triagestore.Store{Store: s}, s
	}
	triagetest.RunStore(t, issues)
	triagetest.RunActivity(t, issues)
}
