package triage_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

func TestActivity(t *testing.T) {
	t.Parallel()
	triagetest.RunActivity(t, func(*testing.T) (triage.Store, callwright.Atomic) {
		memory := memstore.New()
		return memstore.Triage{Store: memory}, memory
	})
}
