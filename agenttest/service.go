package agenttest

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agenttest/engine"
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
	Pathways Pathways          // required
	Engine   *engine.Engine    // required: holds the conversations

	Personas   Personas        // nil: personas cannot be tested
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

	Concurrent int // runs that this node executes at once; 0: DefaultConcurrent
	PerOrg     int // runs of one organization that all nodes execute at once; 0: DefaultPerOrg
	Watchers   int // how many watchers may be open at once; 0: 1000

	Clock  callwright.Clock // nil: callwright.SystemClock
	IDs    callwright.IDs   // nil: callwright.UUIDs
	Logger *slog.Logger     // nil: discards
}

// Pathways loads the versions that are tested; pathway.Service implements it.
type Pathways interface {
	// Load returns a version's graph and its number, 0 for the draft; CodeNotFound, with the field pathway_id or
	// pathway_version, when there is none. CodeInvalidState: the draft is empty.
	Load(ctx context.Context, org callwright.OrgID, id string, sel pathway.Selector) (*graph.Graph, int, error)
	// Publish publishes a version if the gate lets it pass.
	Publish(ctx context.Context, org callwright.OrgID, id string, p pathway.Publication) (pathway.Published, error)
	// FinishTests is called when the tests of a pathway have ended. It may be called twice.
	FinishTests(ctx context.Context, org callwright.OrgID, id string) error
}

// Personas loads the versions of personas that are tested; persona.Service implements it.
type Personas interface {
	// Load returns a persona and its version in production. CodeNotFound with the field persona_id: there is no such persona.
	// CodeInvalidState with that field: no version is in production.
	Load(ctx context.Context, org callwright.OrgID, id string) (persona.Persona, persona.Version, error)
	// LoadPinned returns a version that is or was in production. CodeNotFound: there is none.
	LoadPinned(ctx context.Context, org callwright.OrgID, id string, number int) (persona.Version, error)
}

// Defaults of a Config.
const (
	DefaultConcurrent = 32
	DefaultPerOrg     = 8
)

// Service keeps scenarios and runs them.
type Service struct {
	cfg   Config
	heart *node.Heartbeat
	live  live
	wake  chan struct{} // holds a token when there may be runs to start

	claiming callwright.Outage

	purses    purses
	snapshots snapshots
	starts    *node.Budget // see maxStarts

	reads    *reads // of statistics and analytics
	rescores *reads
	views    views
	watchers node.Watchers
}

// New checks the configuration and registers the durable work. Run executes runs.
func New(c Config) (*Service, error) {
	switch {
	case c.Store == nil:
		return nil, errors.New("agenttest: Config.Store is required")
	case c.Atomic == nil:
		return nil, errors.New("agenttest: Config.Atomic is required")
	case c.Work == nil:
		return nil, errors.New("agenttest: Config.Work is required")
	case c.Leases == nil:
		return nil, errors.New("agenttest: Config.Leases is required")
	case c.Node == "":
		return nil, errors.New("agenttest: Config.Node is required")
	case c.Pathways == nil:
		return nil, errors.New("agenttest: Config.Pathways is required")
	case c.Engine == nil:
		return nil, errors.New("agenttest: Config.Engine is required")
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
	heart, err := node.NewHeartbeat(node.HeartbeatConfig{
		Leases: c.Leases, Kind: nodeKind, Node: c.Node, Clock: c.Clock, Logger: c.Logger,
	})
	if err != nil {
		return nil, err
	}
	s := &Service{
		cfg: c, heart: heart, wake: make(chan struct{}, 1), starts: newStarts(), reads: newReads(), rescores: newReads(),
		watchers: node.Watchers{Total: c.Watchers, Share: MaxWatchers},
	}
	s.register()
	return s, nil
}
