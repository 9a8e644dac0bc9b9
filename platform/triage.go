package platform

import (
	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/adapters/join"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/analyst"
)

// triageParts lists the dependencies of the triage service.
type triageParts struct {
	fx.In
	Secrets  secrets
	DB       *bunstore.DB
	Work     callwright.Work
	Pathways *pathway.Service
	Model    llm.Model
	Runtime  callwright.Runtime
}

// newTriage returns the triage service. Calls, pathways, test runs and port requests can be attached to issues. Samples and files have no
// resolver yet.
func newTriage(p triageParts) (*triage.Service, error) {
	cursors, err := triage.NewCursors(1, map[byte][]byte{1: []byte(p.Secrets.Cursors.Reveal())})
	if err != nil {
		return nil, err
	}
	a, err := analyst.New(analyst.Config{Model: p.Model, Runtime: p.Runtime})
	if err != nil {
		return nil, err
	}
	return triage.New(triage.Config{
		Store: triagestore.Store{DB: p.DB}, Atomic: p.DB, Work: p.Work, Analyst: a, Cursors: cursors, Runtime: p.Runtime,
		Resolvers: map[triage.ResourceType]triage.ResourceResolver{
			triage.ResourceCall:    join.Calls{Store: agentstore.Calls{DB: p.DB}},
			triage.ResourcePathway: join.Pathways{Service: p.Pathways},
			triage.ResourcePort:    join.Ports{Store: portingstore.Requests{DB: p.DB}},
			triage.ResourceRun:     join.Runs{Store: agentteststore.Store{DB: p.DB}},
		},
	})
}

// analyzedBy describes which model analyzes issues, human-readable.
func (p runsOn) analyzedBy() string {
	if !p.Config.hasModel() {
		return "not analyzed, which the scripted model can't"
	}
	return "analyzed by " + p.Model.Name()
}
