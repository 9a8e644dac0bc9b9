package main

import (
	"log/slog"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/adapters/casefile"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/analyst"
)

// failures is who is told of calls that have failed. Calls are made before issues, which show calls: newTriage says who it
// is, before any durable work runs.
type failures struct{ call.Failures }

func newFailures() *failures { return new(failures) }

// triageParts is everything that issues are made of.
type triageParts struct {
	fx.In
	Secrets  secrets
	DB       *bunstore.DB
	Work     callwright.Work
	Calls    *call.Service
	Pathways *pathway.Service
	Failures *failures
	Engines  engines
	Log      *slog.Logger
}

// newTriage keeps issues of calls and pathways. Tests, samples and files have no library yet.
func newTriage(p triageParts) (*triage.Service, error) {
	cursors, err := triage.NewCursors(1, map[byte][]byte{1: p.Secrets.Cursors})
	if err != nil {
		return nil, err
	}
	a, err := analyst.New(analyst.Config{Model: p.Engines.Model, Logger: p.Log})
	if err != nil {
		return nil, err
	}
	s, err := triage.New(triage.Config{
		Store: triagestore.Store{DB: p.DB}, Atomic: p.DB, Work: p.Work, Analyst: a, Cursors: cursors, Logger: p.Log,
		Libraries: map[triage.ResourceType]triage.Library{
			triage.ResourceCall:    casefile.Calls{Service: p.Calls},
			triage.ResourcePathway: casefile.Pathways{Service: p.Pathways},
		},
	})
	p.Failures.Failures = casefile.FailedCalls{Issues: s}
	return s, err
}

// analyzedBy says to people who looks for the causes of issues.
func (p parts) analyzedBy() string {
	if p.Config.LLMBaseURL == "" {
		return "not analyzed, which the scripted model can't"
	}
	return "analyzed by " + p.Engines.Model.Name()
}
