package group

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Config configures a Service. Run must be complete except for Groups. The other fields without a required tag may be zero.
type Config struct {
	Run       run.Config // New replaces its Groups
	Store     Store      `required:"always"`
	Scenarios Scenarios  `required:"always"`
	Pathways  Pathways   `required:"always"`
	Reads     *run.Reads // limits concurrent reads of sets, possibly with other readers; nil means a separate limit

	Notifier Notifier // is notified of ended groups; may be nil
	Failures Failures // receives the failure modes of sets; may be nil
}

// Scenarios reads the scenarios that groups test. See agenttest.Store for the requirements.
type Scenarios interface {
	Scenario(ctx context.Context, org callwright.OrgID, id string) (scenario.Scenario, error)
	// BriefScenarios returns the scenarios with these ids, with the fields of agenttest.ScenarioFilter.Brief. It omits absent ones.
	BriefScenarios(ctx context.Context, org callwright.OrgID, ids []string) ([]scenario.Scenario, error)
	RequiredScenarios(ctx context.Context, org callwright.OrgID, pathway string, limit int) (map[string]int64, error)
}

// Pathways loads and publishes versions of pathways, and is notified of ended tests. pathway.Service implements it.
type Pathways interface {
	run.Pathways
	// Publish publishes a version if the gate permits it.
	Publish(ctx context.Context, org callwright.OrgID, id string, p pathway.Publication) (pathway.Published, error)
	// FinishTests notifies the pathway that its tests have ended. It may be called more than once.
	FinishTests(ctx context.Context, org callwright.OrgID, id string) error
}

// taskExpand is the task that creates the remaining runs of a group.
const taskExpand = "agenttest.expand"

// Service starts, reads, cancels and watches groups of runs and single runs.
type Service struct {
	*run.Service

	cfg    Config
	ledger ledger
	views  views
}

// New checks the configuration, registers the durable tasks, and returns a Service. Call Run to execute runs.
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

// register registers the handlers of the durable tasks.
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
