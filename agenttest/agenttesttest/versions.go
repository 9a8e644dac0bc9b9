package agenttesttest

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// Version is a version of a pathway, with its document.
type Version struct {
	Org      callwright.OrgID
	Pathway  string
	Number   int
	Document graph.Document
}

// Versions holds versions of pathways in memory. It compiles a version at every load.
type Versions []Version

// LoadPinned returns the graph of a version, or CodeNotFound if the organization has no such version. If the document is invalid, it
// returns the error of graph.Compile.
func (v Versions) LoadPinned(_ context.Context, org callwright.OrgID, pathway string, number int) (*graph.Graph, error) {
	for _, one := range v {
		if one.Org == org && one.Pathway == pathway && one.Number == number {
			return graph.Compile(one.Document)
		}
	}
	return nil, callwright.NotFound("version")
}
