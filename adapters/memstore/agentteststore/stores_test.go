package agentteststore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/tornado"
)

func TestStores(t *testing.T) {
	t.Parallel()
	agenttesttest.RunStore(t, func(*testing.T) (agenttest.Store, callwright.Atomic) {
		s := memstore.New()
		return agentteststore.Store{Store: s}, s
	}, nil)
	agenttesttest.RunSessionStore(t, func(*testing.T) (tornado.Store, callwright.Atomic) {
		s := memstore.New()
		return agentteststore.Sessions{Store: s}, s
	}, nil)
}
