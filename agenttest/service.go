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

// Config configures a Service.
type Config struct {
	Store    Store             // required
	Atomic   callwright.Atomic // required: transactions of the store
	Work     callwright.Work   // required: creates the runs of large groups, sends notices, deletes old runs
	Leases   node.Leases       // required: show the live nodes
	Node     string            // names this process; every process of a deployment, past or present, has another name; required
	Pathways Pathways          // required
	Engine   *engine.Engine    // required: holds the conversations

	Personas   Personas        // nil: personas cannot be tested
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

	Concurrent int // concurrent runs on this node; 0: DefaultConcurrent
	PerOrg     int // concurrent runs of one organization on all nodes; 0: DefaultPerOrg
	Watchers   int // maximum number of open watchers; 0: 1000

	Clock  callwright.Clock // nil: callwright.SystemClock
	IDs    callwright.IDs   // nil: callwright.UUIDs
	Logger *slog.Logger     // nil: discards
}

// Pathways loads the tested versions; pathway.Service implements it.
type Pathways interface {
	// Load returns a version's graph and its number, 0 for the draft; CodeNotFound, with the field pathway_id or pathway_version,
	// when it is absent. CodeInvalidState: the draft is empty.
	Load(ctx context.Context, org callwright.OrgID, id string, sel pathway.Selector) (*graph.Graph, int, error)
	// Publish publishes a version if the gate lets it pass.
	Publish(ctx context.Context, org callwright.OrgID, id string, p pathway.Publication) (pathway.Published, error)
	// FinishTests is called when the tests of a pathway have ended. It may be called twice.
	FinishTests(ctx context.Context, org callwright.OrgID, id string) error
}

// Personas loads the tested versions of personas; persona.Service implements it.
type Personas interface {
	// Load returns a persona and its version in production. CodeNotFound with the field persona_id: the persona is absent.
	// CodeInvalidState with that field: no version is in production.
	Load(ctx context.Context, org callwright.OrgID, id string) (persona.Persona, persona.Version, error)
	// LoadPinned returns a version that is or was in production. CodeNotFound: it is absent.
	LoadPinned(ctx context.Context, org callwright.OrgID, id string, number int) (persona.Version, error)
}

// Defaults of a Config.
const (
	DefaultConcurrent = 32
	DefaultPerOrg     = 8
)

// Service manages scenarios and runs them.
type Service struct {
	cfg   Config
	heart *node.Heartbeat
	live  live
	wake  chan struct{} // holds a token when runs may be ready to start

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
