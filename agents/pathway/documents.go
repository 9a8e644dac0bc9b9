package pathway

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// The limits of documents that are read or compared concurrently on a node. A document may have graph.MaxBytes, and takes many
// times as much memory in a comparison. Further requests wait.
const (
	MaxDocuments       = 16 // of all organizations
	MaxDocumentsOfOrg  = 4
	documentWait       = 5 * time.Second
	documentsOfDiff    = 2 // the maximum of one operation, which claims them together
	documentsOfReading = 1
)

func newDocuments() *node.Budget {
	return &node.Budget{
		Total: MaxDocuments, Share: MaxDocumentsOfOrg, Wait: documentWait,
		Busy: "too many pathways are being read at once: send the request again later",
	}
}

// hold waits for memory for documents. CodeUnavailable: none was free within 5 seconds.
func (s *Service) hold(ctx context.Context, org callwright.OrgID, documents int64) (release func(), err error) {
	return s.documents.Claim(ctx, string(org), documents)
}
