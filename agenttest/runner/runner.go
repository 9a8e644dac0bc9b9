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
	// LoadPinned returns the graph of a version of an organization's pathway, even if the version is archived. It returns CodeNotFound if
	// the version is absent. It must be safe for concurrent use.
	LoadPinned(ctx context.Context, org callwright.OrgID, pathway string, number int) (*graph.Graph, error)
}

// Personas loads versions of personas. persona.Service implements it.
type Personas interface {
	// LoadPinned returns a version of an organization's persona that is or was in production, or CodeNotFound if the version is absent. It
	// must be safe for concurrent use.
	LoadPinned(ctx context.Context, org callwright.OrgID, persona string, number int) (persona.Version, error)
}

// Production loads the versions of pathways in production. pathway.Service implements it.
type Production interface {
	// Load returns the graph of a version and its number. It must be safe for concurrent use.
	Load(ctx context.Context, org callwright.OrgID, pathway string, sel pathway.Selector) (*graph.Graph, int, error)
}

// Config configures a Runner. Fields without a required tag may be zero.
type Config struct {
	Versions   Versions          `required:"always"`
	Personas   Personas          // if nil, personas cannot be tested
	Production Production        // pathways to which personas hand over; if nil, personas never hand over
	Knowledge  pathway.Knowledge // if nil, there are no knowledge bases

	callwright.Runtime
}

// Runner is an engine.PathwayRunner for pathways and personas. It is safe for concurrent use. Its sessions exist only in memory. The Runner
// itself caches only the converted graph of the last session.
type Runner struct {
	cfg  Config
	last atomic.Pointer[seen]
}

// seen is a graph with its conversion for assertions. It is cached because many successive runs test the same graph.
type seen struct {
	graph *graph.Graph
	nodes assert.Graph
}

// see returns the conversion of a graph for assertions, from the cache if possible. The caller must not change it.
func (r *Runner) see(g *graph.Graph) assert.Graph {
	if last := r.last.Load(); last != nil && last.graph == g {
		return last.nodes
	}
	nodes := Graph(g)
	r.last.Store(&seen{g, nodes})
	return nodes
}

var _ engine.PathwayRunner = (*Runner)(nil)

// New returns a runner. The error names the missing required field.
func New(c Config) (*Runner, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	return &Runner{cfg: c}, nil
}

// silent hides the llm.Hinter of a model, because tests recognize no speech.
type silent struct{ llm.Model }

// Start starts a session with a version of a pathway or of a persona. It returns CodeNotFound for an absent version and for the draft,
// which cannot be tested because it may change. It returns CodeBadRequest with the field "persona_id" if the runner has no Personas, and
// with the field "start_node_id" for an absent start node or for any start node of a persona.
func (r *Runner) Start(ctx context.Context, spec engine.SessionSpec) (engine.Session, error) {
	switch {
	case spec.Model == nil:
		return nil, errors.New("runner: SessionSpec.Model is required")
	case spec.Pathway == "" && spec.Persona == "":
		return nil, callwright.Invalid("pathway_id", "is required, unless persona_id is set")
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
		return nil, callwright.Invalid("start_node_id", "must be the id of a node of version %d, not %q", spec.Version, spec.StartNode)
	}
	agent := &walker{
		runtime: &pathway.Interpreter{
			Model: silent{spec.Model}, Requests: sink, Knowledge: r.cfg.Knowledge, Runtime: r.cfg.Runtime,
		},
		graph: g, agent: pathway.Agent{Org: spec.Org},
	}
	return &session{runner: r, agent: agent, sink: sink, state: pathway.Begin(spec.Variables, spec.StartNode)}, nil
}
