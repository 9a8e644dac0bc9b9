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

// Config configures a Service. Fields without a required tag may be zero, except Versions.Pathways.
type Config struct {
	Store     Store             `required:"always"`
	Scenarios Scenarios         `required:"always"`
	Groups    Groups            // if nil, runs have no groups
	Atomic    callwright.Atomic `required:"always"` // transactions of the store
	Work      callwright.Work   `required:"always"` // executes durable tasks: sends notices, reports failures, deletes old runs
	Leases    node.Leases       `required:"always"` // determine the live nodes
	Node      string            `required:"always"` // name of this process, unique among all past and present processes
	Versions  Versions          // Versions.Pathways is required
	Engine    *engine.Engine    `required:"always"` // holds the conversations

	URLs       callwright.URLs // checks webhook URLs; if nil, none is permitted
	Notifier   Notifier        // is notified of ended runs; may be nil
	Failures   Failures        // receives failed runs; may be nil
	Deliveries *delivery.Log   // lists messages that webhooks have not accepted; if nil, they are not listed

	Concurrent int // maximum of concurrent runs on this node; 0 means DefaultConcurrent
	PerOrg     int // maximum of concurrent runs of an organization on all nodes; 0 means DefaultPerOrg
	Watchers   int // maximum number of open watchers on this node, of all organizations; 0 means 1000

	callwright.Runtime
}

// Scenarios reads the scenarios to run. See agenttest.Store for the requirements.
type Scenarios interface {
	Scenario(ctx context.Context, org callwright.OrgID, id string) (scenario.Scenario, error)
	HoldScenario(ctx context.Context, org callwright.OrgID, id string) error
}

// These constants are the defaults of a Config.
const (
	DefaultConcurrent = 32
	DefaultPerOrg     = 8
)

// Complete returns the configuration with its defaults. The error names the missing required field.
func (c Config) Complete() (Config, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return c, err
	}
	if c.Versions.Pathways == nil {
		return c, errors.New("run: Config.Versions must contain Pathways")
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

// New checks the configuration, registers the durable tasks, and returns a Service. Call Run to execute runs.
func New(c Config) (*Service, error) {
	w, err := newWorker(c)
	if err != nil {
		return nil, err
	}
	return &Service{Worker: w, cfg: w.cfg}, nil
}

// Run executes waiting runs until ctx is done: see Worker.Run.
func (s *Service) Run(ctx context.Context) error { return s.Worker.Run(ctx) }
