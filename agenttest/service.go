package agenttest

import (
	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/node"
)

// Config configures a Service.
type Config struct {
	Store    Store             `required:"always"`
	Atomic   callwright.Atomic `required:"always"` // transactions of the store
	Work     callwright.Work   `required:"always"` // creates the runs of large groups, sends notices, deletes old runs
	Leases   node.Leases       `required:"always"` // show the live nodes
	Node     string            `required:"always"` // names this process; every process of a deployment, past or present, has another name
	Pathways group.Pathways    `required:"always"`
	Engine   *engine.Engine    `required:"always"` // holds the conversations

	Personas   run.Personas    // nil: personas cannot be tested
	URLs       callwright.URLs // checks webhook URLs; nil: none is allowed
	Notifier   Notifier        // sends the ends of runs and groups; nil: not sent
	Failures   Failures        // receives failures; nil: not reported
	Deliveries *delivery.Log   // lists messages that webhooks have not accepted; nil: no list
	Chats      Chats           // replays runs; nil: no replays

	Model llm.Model // checks the model names of CUSTOM_LLM assertions; nil: every name is accepted

	Transcripts Transcripts // calls for drafts of scenarios; nil: no drafts
	Writer      llm.Model   // writes drafts; nil or incapable: drafts repeat the call
	Documents   Documents   // sources of versions, for analyses; nil: analyses use only the names of nodes
	Analyst     llm.Model   // analyzes failed runs; nil or incapable: the rules do

	Concurrent int // runs that this node executes concurrently; 0: run.DefaultConcurrent
	PerOrg     int // runs of one organization that all nodes execute concurrently; 0: run.DefaultPerOrg
	Watchers   int // maximum number of open watchers on this node, of all organizations; 0: 1000

	callwright.Runtime
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

// Service stores scenarios and runs them: see group.Service and run.Service for its methods about groups and runs.
type Service struct {
	*group.Service

	cfg      Config
	versions run.Versions
	reads    *run.Reads // of statistics and analytics
	rescores *run.Reads
}

// New checks the configuration and registers the durable work. Run executes runs.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	s := &Service{
		cfg: c, versions: run.Versions{Pathways: c.Pathways, Personas: c.Personas}, reads: run.NewReads(), rescores: run.NewReads(),
	}
	runs, err := run.Config{
		Store: c.Store, Scenarios: c.Store, Atomic: c.Atomic, Work: c.Work, Leases: c.Leases, Node: c.Node, Versions: s.versions, Engine: c.Engine,
		URLs: c.URLs, Notifier: c.Notifier, Failures: c.Failures, Deliveries: c.Deliveries,
		Concurrent: c.Concurrent, PerOrg: c.PerOrg, Watchers: c.Watchers, Runtime: c.Runtime,
	}.Complete()
	if err != nil {
		return nil, err
	}
	s.Service, err = group.New(group.Config{
		Run: runs, Store: c.Store, Scenarios: subjects{c.Store}, Pathways: c.Pathways, Reads: s.reads, Notifier: c.Notifier, Failures: c.Failures,
	})
	return s, err
}
