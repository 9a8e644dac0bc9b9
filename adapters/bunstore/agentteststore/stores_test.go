package agentteststore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/tornado"
)

func TestStores(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		agenttesttest.RunStore(t, func(t *testing.T) (agenttest.Store, callwright.Atomic) {
			t.Helper()
			db := open(t)
			return agentteststore.Store{DB: db}, db
		}, func(t *testing.T, s agenttest.Store) []byte {
			t.Helper()
			return storetest.AtRest(t, s.(agentteststore.Store).DB) //nolint:forcetypeassert // it is ours
		})
		agenttesttest.RunSessionStore(t, func(t *testing.T) (tornado.Store, callwright.Atomic) {
			t.Helper()
			db := open(t)
			return agentteststore.Sessions{DB: db}, db
		}, func(t *testing.T, s tornado.Store) []byte {
			t.Helper()
			return storetest.AtRest(t, s.(agentteststore.Sessions).DB) //nolint:forcetypeassert // it is ours
		})
	})
}

func TestMain(m *testing.M) { storetest.Main(m) }
