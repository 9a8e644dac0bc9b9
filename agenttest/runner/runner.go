package runner

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// Versions loads versions of pathways. pathway.Service implements it.
type Versions interface {
	// LoadPinned returns the graph of a version of an organization's pathway, even if the version is archived. CodeNotFound: the
	// version is absent. It is safe for concurrent use.
	LoadPinned(ctx context.Context, org callwright.OrgID, pathway string, number int) (*graph.Graph, error)
}

// Personas loads versions of personas. persona.Service implements it.
type Personas interface {
	// LoadPinned returns a version of an organization's persona that is or was in production. CodeNotFound: it is absent. It is
	// safe for concurrent use.
	LoadPinned(ctx context.Context, org callwright.OrgID, persona string, number int) (persona.Version, error)
}

// Production loads versions in production. pathway.Service implements it.
type Production interface {
	// Load returns the graph of a version and its number. It is safe for concurrent use.
	Load(ctx context.Context, org callwright.OrgID, pathway string, sel pathway.Selector) (*graph.Graph, int, error)
}

// Config configures a Runner.
type Config struct {
	Versions   Versions          `required:"always"`
	Personas   Personas          // nil: personas cannot be tested
	Production Production        // the pathways to which personas hand over; nil: they keep their conversations
	Knowledge  pathway.Knowledge // nil: no knowledge bases

	callwright.Runtime
}

// Runner is an engine.PathwayRunner that walks pathways, and talks like personas. It is safe for concurrent use, and caches only
// the assertions' form of the last graph: a session is state in memory.
type Runner struct {
	cfg  Config
	last atomic.Pointer[seen]
}

// seen is a graph with its form for assertions. Many successive runs test the same one.
type seen struct {
	graph *graph.Graph
	nodes assert.Graph
}

// see returns a graph's form for assertions. It must not be changed.
func (r *Runner) see(g *graph.Graph) assert.Graph {
	if last := r.last.Load(); last != nil && last.graph == g {
		return last.nodes
	}
	nodes := Graph(g)
	r.last.Store(&seen{g, nodes})
	return nodes
}

var _ engine.PathwayRunner = (*Runner)(nil)

// New returns a runner. The error names a required field that is missing.
func New(c Config) (*Runner, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	return &Runner{cfg: c}, nil
}

// silent is a model without llm.Hinter, because tests recognize no speech.
type silent struct{ llm.Model }

// Start begins a session with a version of a pathway or of a persona. A draft cannot be tested, because it changes. CodeBadRequest
// with the field "persona_id": this runner has no personas.
func (r *Runner) Start(ctx context.Context, spec engine.SessionSpec) (engine.Session, error) {
	switch {
	case spec.Model == nil:
		return nil, errors.New("runner: SessionSpec.Model is required")
	case spec.Pathway == "" && spec.Persona == "":
		return nil, callwright.Invalid("pathway_id", "is required")
	case spec.Version < 1:
		return nil, callwright.NotFound("version")
	}
	sink := NewSink(spec.Webhooks)
	if spec.Pathway == "" {
		return r.startPersona(ctx, spec, sink)
	}
	g, err := r.cfg.Versions.LoadPinned(ctx, spec.Org, spec.Pathway, spec.Version)
	if err != nil {
		return nil, err
	}
	if spec.StartNode != "" && g.Node(spec.StartNode) == nil {
		return nil, callwright.Invalid("start_node_id", "version %d has no node %q", spec.Version, spec.StartNode)
	}
	agent := &walker{
		runtime: &pathway.Interpreter{
			Model: silent{spec.Model}, Requests: sink, Knowledge: r.cfg.Knowledge, Runtime: r.cfg.Runtime,
		},
		graph: g, agent: pathway.Agent{Org: spec.Org},
	}
	return &session{runner: r, agent: agent, sink: sink, state: pathway.Begin(spec.Variables, spec.StartNode)}, nil
}
