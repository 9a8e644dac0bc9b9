package platform

import (
	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/adapters/join"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/judge"
	"github.com/callwright/callwright/agenttest/runner"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/transport/httpapi/agenttestapi"
	"github.com/callwright/callwright/triage"
)

// newGate returns a gate for promotions. It makes decisions after newTests has opened it.
func newGate() *join.Gate { return new(join.Gate) }

// testParts lists the dependencies of the agent test service.
type testParts struct {
	fx.In
	Config   Config
	DB       *bunstore.DB
	Work     callwright.Work
	Node     node
	Pathways *pathway.Service
	Personas *persona.Service
	Gate     *join.Gate
	Webhooks *webhook.Sender
	Issues   *triage.Service
	Model    llm.Model
	Prices   price.Table
	Runtime  callwright.Runtime

	Deliveries *delivery.Log
}

// newTests returns the agent test service, and opens the gate for promotions with it. All runs of the node share one Limiter, which adapts
// to the load that the model's service can handle.
func newTests(p testParts) (*agenttest.Service, error) {
	agent, err := runner.New(runner.Config{Versions: p.Pathways, Personas: p.Personas, Production: p.Pathways, Runtime: p.Runtime})
	if err != nil {
		return nil, err
	}
	held, err := engine.New(engine.Config{
		Runner: agent, Model: engine.NewLimiter(p.Model, engine.LimiterConfig{}),
		Judge:       func(m llm.Model) assert.Judge { return judge.New(m, judge.Config{}) },
		CheckCaller: p.Config.hasModel(), Pricer: p.Prices.Cost, Runtime: p.Runtime,
	})
	if err != nil {
		return nil, err
	}
	c := agenttest.Config{
		Store: agentteststore.Store{DB: p.DB}, Atomic: p.DB, Work: p.Work, Leases: bunstore.Leases{DB: p.DB}, Node: string(p.Node),
		Pathways: p.Pathways, Personas: p.Personas, Engine: held, URLs: p.Webhooks, Notifier: agenttestapi.NewNotifier(p.Webhooks), Runtime: p.Runtime,
		Chats: p.Pathways, Transcripts: join.Transcripts{Store: agentstore.Calls{DB: p.DB}}, Writer: p.Model,
		Documents: p.Pathways, Model: p.Model, Analyst: p.Model, Deliveries: p.Deliveries,
	}
	if p.Config.FailedTestIssues {
		c.Failures = join.FailedRuns{Issues: p.Issues}
	}
	tests, err := agenttest.New(c)
	if err != nil {
		return nil, err
	}
	p.Gate.Open(tests)
	return tests, nil
}

// newTornados returns the service that searches for versions that pass their tests. No session can start without a language model, because
// nothing proposes changes.
func newTornados(p testParts, tests *agenttest.Service) (*tornado.Service, error) {
	c := tornado.Config{
		Store: agentteststore.Sessions{DB: p.DB}, Atomic: p.DB, Work: p.Work, Leases: bunstore.Leases{DB: p.DB}, Node: string(p.Node),
		Pathways: p.Pathways, Runs: tests, Analyst: p.Model, Pricer: p.Prices.Cost, Runtime: p.Runtime,
	}
	if p.Config.hasModel() {
		c.Model = p.Model
	}
	return tornado.New(c)
}

// judgedBy describes how assertions are judged, human-readable.
func (p runsOn) judgedBy() string {
	if !p.Config.hasModel() {
		return "by rules only; assertions that need a judge end as errors, because the scripted model cannot judge"
	}
	return "by rules and " + p.Model.Name()
}

// mendedBy describes which model proposes changes to pathways that fail their tests, human-readable.
func (p runsOn) mendedBy() string {
	if !p.Config.hasModel() {
		return "no sessions: the scripted model proposes no changes of pathways"
	}
	return "changes are proposed by " + p.Model.Name()
}
