package agenttest

import (
	"log/slog"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/node"
)

// Config holds what a Service needs.
type Config struct {
	Store    Store             // required
	Atomic   callwright.Atomic // required: transactions of the store
	Work     callwright.Work   // required: creates the runs of large groups, sends notices, removes old runs
	Leases   node.Leases       // required: tell which nodes are alive
	Node     string            // names this process; every process of a deployment, past or present, has another name; required
	Pathways group.Pathways    // required
	Engine   *engine.Engine    // required: holds the conversations

	Personas   run.Personas    // nil: personas cannot be tested
	URLs       callwright.URLs // which webhook addresses are allowed; nil: none
	Notifier   Notifier        // tells the ends of runs and groups; nil: nobody is told
	Failures   Failures        // is told what fails; nil: nobody is told
	Deliveries *delivery.Log   // lists messages that webhooks have not taken; nil: there is no list
	Chats      Chats           // in which runs are replayed; nil: none is

	Model llm.Model // whose names assertions of the type CUSTOM_LLM may ask for; nil: every name is taken

	Transcripts Transcripts // calls to draft scenarios from; nil: nothing is drafted
	Writer      llm.Model   // writes drafts; nil, or one that cannot: they repeat the call
	Documents   Documents   // how versions were written, for analyses; nil: these know the nodes by their names only
	Analyst     llm.Model   // analyzes failed runs; nil, or one that cannot: the rules do

	Concurrent int // runs that this node executes at once; 0: run.DefaultConcurrent
	PerOrg     int // runs of one organization that all nodes execute at once; 0: run.DefaultPerOrg
	Watchers   int // how many watchers may be open at once; 0: 1000

	Clock  callwright.Clock // nil: callwright.SystemClock
	IDs    callwright.IDs   // nil: callwright.UUIDs
	Logger *slog.Logger     // nil: discards
}

// Notifier sends the ends of runs and groups to webhooks.
type Notifier interface {
	run.Notifier
	group.Notifier
}

// Failures receives runs that have failed.
type Failures interface {
	run.Failures
	group.Failures
}

// Service keeps scenarios and runs them: see group.Service and run.Service for its methods about groups and runs.
type Service struct {
	*group.Service

	cfg      Config
	versions run.Versions
	reads    *run.Reads // of statistics and analytics
	rescores *run.Reads
}

// New checks the configuration and registers the durable work. Run executes runs.
func New(c Config) (*Service, error) {
	s := &Service{
		cfg: c, versions: run.Versions{Pathways: c.Pathways, Personas: c.Personas}, reads: run.NewReads(), rescores: run.NewReads(),
	}
	runs, err := run.Config{
		Store: c.Store, Scenarios: c.Store, Atomic: c.Atomic, Work: c.Work, Leases: c.Leases, Node: c.Node, Versions: s.versions, Engine: c.Engine,
		URLs: c.URLs, Notifier: c.Notifier, Failures: c.Failures, Deliveries: c.Deliveries,
		Concurrent: c.Concurrent, PerOrg: c.PerOrg, Watchers: c.Watchers, Clock: c.Clock, IDs: c.IDs, Logger: c.Logger,
	}.Complete()
	if err != nil {
		return nil, err
	}
	s.cfg.Clock, s.cfg.IDs, s.cfg.Logger = runs.Clock, runs.IDs, runs.Logger
	s.Service, err = group.New(group.Config{
		Run: runs, Store: c.Store, Scenarios: subjects{c.Store}, Pathways: c.Pathways, Reads: s.reads, Notifier: c.Notifier, Failures: c.Failures,
	})
	return s, err
}
