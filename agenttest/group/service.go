package group

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Config configures a Service.
type Config struct {
	Run       run.Config // configuration of the runs; New sets its Groups
	Store     Store      `required:"always"`
	Scenarios Scenarios  `required:"always"`
	Pathways  Pathways   `required:"always"`
	Reads     *run.Reads // bounds concurrent reads of sets; nil: a bound of its own

	Notifier Notifier // receives the ends of groups; nil: none
	Failures Failures // receives failures in sets; nil: none
}

// Scenarios reads the scenarios that groups test; see agenttest.Store for its duties.
type Scenarios interface {
	Scenario(ctx context.Context, org callwright.OrgID, id string) (scenario.Scenario, error)
	// BriefScenarios returns the existing ones of the given scenarios, in the form of agenttest.ScenarioFilter.Brief.
	BriefScenarios(ctx context.Context, org callwright.OrgID, ids []string) ([]scenario.Scenario, error)
	RequiredScenarios(ctx context.Context, org callwright.OrgID, pathway string, limit int) (map[string]int64, error)
}

// Pathways receives the results of tests; pathway.Service implements it.
type Pathways interface {
	run.Pathways
	// Publish publishes a version if the gate lets it pass.
	Publish(ctx context.Context, org callwright.OrgID, id string, p pathway.Publication) (pathway.Published, error)
	// FinishTests is called when the tests of a pathway have ended. It may be called twice.
	FinishTests(ctx context.Context, org callwright.OrgID, id string) error
}

// taskExpand creates the next runs of a group.
const taskExpand = "agenttest.expand"

// Service starts, reads, cancels and watches groups of runs and single runs.
type Service struct {
	*run.Service

	cfg    Config
	ledger ledger
	views  views
}

// New checks the configuration and registers the durable work. Run executes runs.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	var err error
	if c.Run, err = c.Run.Complete(); err != nil {
		return nil, err
	}
	if c.Reads == nil {
		c.Reads = run.NewReads()
	}
	s := &Service{cfg: c, ledger: ledger{c}}
	c.Run.Groups = s.ledger
	if s.Service, err = run.New(c.Run); err != nil {
		return nil, err
	}
	s.register()
	return s, nil
}

// register registers the durable tasks.
func (s *Service) register() {
	work := s.cfg.Run.Work
	work.Handle(callwright.QueueTests, taskExpand, s.expand)
	work.Handle(callwright.QueueTests, taskCancel, s.cancelWaiting)
	work.Handle(callwright.QueueTests, taskAttribute, s.attribute)
	work.Handle(callwright.QueueTests, taskConclude, s.finishSet)
	taskModes.Handle(work, callwright.QueueTests, s.cfg.Run.Logger, s.tellModes)
	work.Handle(callwright.QueueWebhooks, taskBatchNotice, s.sendBatch)
	work.Handle(callwright.QueueTests, taskPublish, s.publish)
	work.Handle(callwright.QueueTests, taskSettle, func(ctx context.Context, t callwright.Task, _ int) error {
		return s.cfg.Pathways.FinishTests(ctx, t.Org, t.Key)
	})
}
