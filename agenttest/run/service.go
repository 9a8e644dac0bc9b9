package run

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/node"
)

// Config configures a Service.
type Config struct {
	Store     Store             `required:"always"`
	Scenarios Scenarios         `required:"always"`
	Groups    Groups            // nil: runs have no groups
	Atomic    callwright.Atomic `required:"always"` // transactions of the store
	Work      callwright.Work   `required:"always"` // sends notices, deletes old runs
	Leases    node.Leases       `required:"always"` // the nodes that are alive
	Node      string            `required:"always"` // names this process; every process of a deployment, past or present, has another name
	Versions  Versions          // Versions.Pathways is required
	Engine    *engine.Engine    `required:"always"` // holds the conversations

	URLs       callwright.URLs // allowed addresses of webhooks; nil: none
	Notifier   Notifier        // receives the ends of runs; nil: none
	Failures   Failures        // receives failed runs; nil: none
	Deliveries *delivery.Log   // lists messages that webhooks have not accepted; nil: no list

	Concurrent int // concurrent runs on this node; 0: DefaultConcurrent
	PerOrg     int // concurrent runs of one organization on all nodes; 0: DefaultPerOrg
	Watchers   int // maximum number of open watchers on this node, of all organizations; 0: 1000

	callwright.Runtime
}

// Scenarios reads the scenarios to run; see agenttest.Store for its duties.
type Scenarios interface {
	Scenario(ctx context.Context, org callwright.OrgID, id string) (scenario.Scenario, error)
	HoldScenario(ctx context.Context, org callwright.OrgID, id string) error
}

// Defaults of a Config.
const (
	DefaultConcurrent = 32
	DefaultPerOrg     = 8
)

// Complete returns the configuration with its defaults. The error names a missing required field.
func (c Config) Complete() (Config, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return c, err
	}
	if c.Versions.Pathways == nil {
		return c, errors.New("run: Config.Versions must have Pathways")
	}
	if c.Concurrent <= 0 {
		c.Concurrent = DefaultConcurrent
	}
	if c.PerOrg <= 0 {
		c.PerOrg = DefaultPerOrg
	}
	if c.Watchers <= 0 {
		c.Watchers = defaultWatchers
	}
	return c, nil
}

// Service starts, reads, cancels and watches runs.
type Service struct {
	Worker *Worker // executes the runs; for package group

	cfg Config
}

// New checks the configuration and registers the durable work. Run executes runs.
func New(c Config) (*Service, error) {
	w, err := newWorker(c)
	if err != nil {
		return nil, err
	}
	return &Service{Worker: w, cfg: w.cfg}, nil
}

// Run executes runs: see Worker.Run.
func (s *Service) Run(ctx context.Context) error { return s.Worker.Run(ctx) }
