package run

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/node"
)

// Config configures a Service.
type Config struct {
	Store     Store             // required
	Scenarios Scenarios         // required
	Groups    Groups            // nil: runs have no groups
	Atomic    callwright.Atomic // required: transactions of the store
	Work      callwright.Work   // required: sends notices, deletes old runs
	Leases    node.Leases       // required: the nodes that are alive
	Node      string            // names this process; every process of a deployment, past or present, has another name; required
	Versions  Versions          // its Pathways are required
	Engine    *engine.Engine    // required: holds the conversations

	URLs       callwright.URLs // allowed addresses of webhooks; nil: none
	Notifier   Notifier        // receives the ends of runs; nil: none
	Failures   Failures        // receives failed runs; nil: none
	Deliveries *delivery.Log   // lists messages that webhooks have not accepted; nil: no list

	Concurrent int // concurrent runs on this node; 0: DefaultConcurrent
	PerOrg     int // concurrent runs of one organization on all nodes; 0: DefaultPerOrg
	Watchers   int // maximum number of open watchers; 0: 1000

	Clock  callwright.Clock // nil: callwright.SystemClock
	IDs    callwright.IDs   // nil: callwright.UUIDs
	Logger *slog.Logger     // nil: discards
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
	switch {
	case c.Store == nil:
		return c, errors.New("agenttest: Config.Store is required")
	case c.Scenarios == nil:
		return c, errors.New("agenttest: Config.Scenarios is required")
	case c.Atomic == nil:
		return c, errors.New("agenttest: Config.Atomic is required")
	case c.Work == nil:
		return c, errors.New("agenttest: Config.Work is required")
	case c.Leases == nil:
		return c, errors.New("agenttest: Config.Leases is required")
	case c.Node == "":
		return c, errors.New("agenttest: Config.Node is required")
	case c.Versions.Pathways == nil:
		return c, errors.New("agenttest: Config.Pathways is required")
	case c.Engine == nil:
		return c, errors.New("agenttest: Config.Engine is required")
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
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.IDs == nil {
		c.IDs = new(callwright.UUIDs)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Service starts, reads, cancels and watches runs.
type Service struct {
	Worker *Worker // executes them

	cfg Config
}

// New checks the configuration and registers the durable work. Run executes runs.
func New(c Config) (*Service, error) {
	w, err := NewWorker(c)
	if err != nil {
		return nil, err
	}
	return &Service{Worker: w, cfg: w.cfg}, nil
}

// Run executes runs: see Worker.Run.
func (s *Service) Run(ctx context.Context) error { return s.Worker.Run(ctx) }
