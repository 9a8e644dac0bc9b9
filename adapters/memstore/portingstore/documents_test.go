package portingstore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/document/documenttest"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	documenttest.RunStore(t, func(*testing.T) (document.Store, callwright.Atomic) {
		s := memstore.New()
		return portingstore.Documents{Store: s}, s
	})
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	documenttest.RunBlobs(t, func(*testing.T) document.Blobs { return portingstore.Blobs{Store: memstore.New()} }, nil)
}
