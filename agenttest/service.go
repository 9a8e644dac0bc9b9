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

// Config configures a Service. Fields without a required tag may be zero.
type Config struct {
	Store    Store             `required:"always"`
	Atomic   callwright.Atomic `required:"always"` // transactions of the store
	Work     callwright.Work   `required:"always"` // executes background tasks, for example creates the runs of large groups, sends notices and deletes old runs
	Leases   node.Leases       `required:"always"` // determine the live nodes
	Node     string            `required:"always"` // name of this process, unique among all past and present processes
	Pathways group.Pathways    `required:"always"`
	Engine   *engine.Engine    `required:"always"` // holds the conversations

	Personas   run.Personas    // if nil, personas cannot be tested
	URLs       callwright.URLs // checks webhook URLs; if nil, none is permitted
	Notifier   Notifier        // sends notices of ended runs and groups; may be nil
	Failures   Failures        // receives failed runs and groups; may be nil
	Deliveries *delivery.Log   // lists messages that webhooks have not accepted; if nil, they are not listed
	Chats      Chats           // replays runs; if nil, runs cannot be replayed

	Model llm.Model // checks the model names of CUSTOM_LLM assertions; if nil, every name is accepted

	Transcripts Transcripts // calls for drafts of scenarios; if nil, drafts are not possible
	Writer      llm.Model   // writes drafts; if nil or not capable, drafts repeat the call
	Documents   Documents   // sources of versions, for analyses; if nil, analyses use only the names of nodes
	Analyst     llm.Model   // analyzes failed runs; if nil or not capable, rules analyze them

	Concurrent int // maximum of concurrent runs on this node; 0 means run.DefaultConcurrent
	PerOrg     int // maximum of concurrent runs of an organization on all nodes; 0 means run.DefaultPerOrg
	Watchers   int // maximum number of open watchers on this node, of all organizations; 0 means 1000

	callwright.Runtime
}

// Notifier notifies webhooks of ended runs and groups.
type Notifier interface {
	run.Notifier
	group.Notifier
}

// Failures receives failed runs and the failure modes of groups.
type Failures interface {
	run.Failures
	group.Failures
}

// Service stores scenarios and runs them. The embedded group.Service, and run.Service within it, implement the methods for groups and runs.
type Service struct {
	*group.Service

	cfg      Config
	versions run.Versions
	reads    *run.Reads // limits reads for statistics and analytics
	rescores *run.Reads
}

// New checks the configuration, registers the durable tasks, and returns a Service. Call Run to execute runs.
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
