package portingstore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/document/documenttest"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		documenttest.RunStore(t, func(t *testing.T) (document.Store, callwright.Atomic) {
			t.Helper()
			db := open(t)
			return portingstore.Documents{DB: db}, db
		})
	})
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		documenttest.RunBlobs(t, func(t *testing.T) document.Blobs {
			t.Helper()
			return portingstore.Blobs{DB: open(t)}
		}, func(t *testing.T, b document.Blobs) []byte {
			t.Helper()
			return storetest.AtRest(t, b.(portingstore.Blobs).DB) //nolint:forcetypeassert // it is ours
		})
	})
}
