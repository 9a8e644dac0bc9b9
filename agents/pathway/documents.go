package pathway

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// The limits of documents that a node reads or compares concurrently. A document may have graph.MaxBytes, and a comparison uses many times
// as much memory. Further requests wait.
const (
	MaxDocuments       = 16 // of all organizations together
	MaxDocumentsOfOrg  = 4
	documentWait       = 5 * time.Second
	documentsOfDiff    = 2 // maximum of one operation, which claims its documents together
	documentsOfReading = 1
)

func newDocuments() *node.Budget {
	return &node.Budget{
		Total: MaxDocuments, Share: MaxDocumentsOfOrg, Wait: documentWait,
		Busy: "too many pathways are being read at once: send the request again later",
	}
}

// hold waits until memory for documents is free, and claims it until release is called. It returns CodeUnavailable if no memory becomes
// free within 5 seconds.
func (s *Service) hold(ctx context.Context, org callwright.OrgID, documents int64) (release func(), err error) {
	return s.documents.Claim(ctx, string(org), documents)
}
