package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/callwright/callwright/agents/pathway/internal/tree"
	"github.com/callwright/callwright/agents/template"
)

// Compile checks a document and compiles it to a graph. The error is FieldErrors: it contains all errors of the document, at most 100 and a
// note that there are more. Each error contains its path, for example "nodes[3].data.url". Errors of nodes precede errors of edges, both in
// the document's order. Errors that concern several entries, such as unknown targets of branches and unreachable nodes, follow. If the
// document is too large or is not JSON, no other error is reported.
//
// Check is stricter, because a document that an earlier release has stored must still lead conversations.
//
// Members that a node's type does not use are ignored and not checked, as are unknown members, position, warmTransferFields,
// dialogueExamples, conditionExamples and pathwayExamples. In modelOptions, only modelName (or modelType), newTemperature (or temperature),
// skipUserResponse, disableSilenceRepeat, block_interruptions, interruptibility, interruptionThreshold, min_endpointing_delay
// and max_endpointing_delay count; in extractVarSettings, only ignorePrevious. A member that is null counts as absent.
//
// Some members have several forms. An entry of extractVars is [name, type, description], or an object with these members. headers is an
// object, or a list of [name, value] or {key, value}. timeoutValue is a number of seconds, or a string that contains one. In
// responsePathways, = and is mean ==. The label and the description of an edge may be beside its data (see Document.Normalize).
//
// Every node must be reachable by edges and branches from the start or from a global node. Edges that are always taken may form a cycle,
// because a conversation limits the nodes of a turn.
func Compile(d Document) (*Graph, error) { return (&compiler{graph: &Graph{}}).compile(d) }

// Check compiles a document before it is stored. In addition to the errors of Compile, it reports every member that is null, has a wrong
// type, or is too long according to the contract, for any type of node. Readers of stored documents can therefore rely on the contract.
// Check ignores members that are not in the contract.
func Check(d Document) (*Graph, error) { return (&compiler{graph: &Graph{}, strict: true}).compile(d) }

func (c *compiler) compile(d Document) (*Graph, error) {
	if c.sizes(d); len(c.errs.all) > 0 {
		return nil, c.errs.all
	}
	nodes, edges := parse(&c.errs, "nodes", d.Nodes), parse(&c.errs, "edges", d.Edges)
	if len(c.errs.all) > 0 {
		return nil, c.errs.all
	}
	c.graph.Nodes = make(map[string]*Node, len(nodes))
	c.places = make(map[string]int, len(nodes))
	c.nodes = make([]*Node, len(nodes))
	for i, v := range nodes {
		c.entry(i, v)
		c.typed(nodeShape, fields{&c.errs, path{list: "nodes", i: i}, v})
	}
	c.edges(edges)
	c.branches()
	c.reach()
	if err := c.errs.all.OrNil(); err != nil {
		return nil, err
	}
	sum := sha256.New()
	canonical(nodes, edges, func(piece []byte) { sum.Write(piece) })
	c.graph.Hash = hex.EncodeToString(sum.Sum(nil))
	return c.graph, nil
}

// compiler compiles one document.
type compiler struct {
	graph  *Graph
	strict bool // whether members without effect are also checked
	errs   errorList
	nodes  []*Node        // one element per entry of the document's nodes; nil for an entry that is not a node
	places map[string]int // indexes in nodes by the nodes' ids
	open   []openTarget   // branches whose targets are not resolved yet
}

// openTarget is the unresolved target of a branch, and the branch's node.
type openTarget struct {
	target
	from *Node
}

// sizes reports the limits that the document exceeds.
func (c *compiler) sizes(d Document) {
	if len(d.Nodes) > MaxNodes {
		c.errs.addf("nodes", "must have at most %d items", MaxNodes)
	}
	if len(d.Edges) > MaxEdges {
		c.errs.addf("edges", "must have at most %d items", MaxEdges)
	}
	if d.Size() > MaxBytes {
		c.errs.addf("", "the pathway must have at most %d bytes", MaxBytes)
	}
}

// entry reads entry i of the list of nodes, which is a node or the settings of the whole pathway.
func (c *compiler) entry(i int, v tree.Value) {
	top := fields{&c.errs, path{list: "nodes", i: i}, v}
	if v.Kind != tree.Object {
		top.errorf("", "must be an object")
		return
	}
	if config := v.Get("globalConfig"); config.Kind > tree.Null {
		c.config(top)
		return
	}
	c.add(i, top, parseNode(top))
}

// add adds a node to the graph. It reports a repeated id and a second start.
func (c *compiler) add(i int, top fields, n parsedNode) {
	c.nodes[i] = n.Node
	if first, taken := c.places[n.ID]; taken {
		top.errorf("id", "must be unique: %s has the id %q too", Entry("nodes", first), n.ID)
	} else if n.ID != "" {
		c.places[n.ID] = i
		c.graph.Nodes[n.ID] = n.Node
	}
	switch {
	case !n.start:
	case c.graph.Start != nil:
		top.object("data").errorf("isStart", "must be true for one node only: node %q is the start", c.graph.Start.ID)
	default:
		c.graph.Start = n.Node
	}
	c.graph.Waits = c.graph.Waits || n.LeastWait+n.LongestWait > 0
	if n.Global {
		c.graph.Globals = append(c.graph.Globals, n.Node)
	}
	c.graph.Facts = append(c.graph.Facts, n.facts...)
	for _, t := range n.targets {
		c.open = append(c.open, openTarget{target: t, from: n.Node})
	}
}

// config reads the settings of the whole pathway, which only one entry may contain.
func (c *compiler) config(top fields) {
	for _, name := range []string{"id", "type", "data"} {
		if v := top.of.Get(name); v.Kind > tree.Null {
			top.errorf("globalConfig", "must be in a separate entry, without %s", name)
		}
	}
	if c.graph.Prompt != nil {
		top.errorf("globalConfig", "must be in one entry only")
	}
	config := top.object("globalConfig")
	if c.graph.Prompt = config.template("globalPrompt", longestPrompt); c.graph.Prompt == nil {
		c.graph.Prompt = template.Parse("")
	}
}

// edges reads the edges and connects their nodes.
func (c *compiler) edges(values []tree.Value) {
	seen := make(map[string]int, len(values))
	for i := range values {
		normalizeEdge(&values[i])
		top := fields{&c.errs, path{list: "edges", i: i}, values[i]}
		if top.of.Kind != tree.Object {
			top.errorf("", "must be an object")
			continue
		}
		e := &Edge{ID: top.need("id", longestID)}
		if first, taken := seen[e.ID]; taken {
			top.errorf("id", "must be unique: %s has the id %q too", Entry("edges", first), e.ID)
		} else if e.ID != "" {
			seen[e.ID] = i
		}
		from := c.end(top, "source")
		e.To = c.end(top, "target")
		data := top.object("data")
		e.Label = data.template("label", longestLabel)
		e.Description = data.template("description", longestDescription)
		e.Always = data.flag("alwaysPick")
		if e.Label == nil && e.Description == nil && !e.Always {
			data.errorf("label", "is required: say when to take the edge, or set alwaysPick")
		}
		if from != nil {
			leave(from, e, top)
		}
		c.typed(edgeShape, top)
	}
}

// end returns the node at an end of an edge. It reports an unknown id and returns nil.
func (c *compiler) end(edge fields, name string) *Node {
	id := edge.need(name, longestID)
	n := c.graph.Nodes[id]
	if id != "" && n == nil {
		edge.errorf(name, "must be the id of a node: no node has the id %q", id)
	}
	return n
}

// leave adds an edge to the node from which it leads. It reports an edge from an End Call node, and a second edge that is always taken.
func leave(from *Node, e *Edge, edge fields) {
	if from.Type == NodeEnd {
		edge.errorf("source", "must not be an End Call node: %q ends the call", from.ID)
	}
	if e.Always && slices.ContainsFunc(from.Edges, func(e *Edge) bool { return e.Always }) {
		edge.errorf("data.alwaysPick", "must be true for one edge of node %q only", from.ID)
	}
	from.Edges = append(from.Edges, e)
}

// branches connects the branches of webhook nodes with their targets, and reports unknown targets.
func (c *compiler) branches() {
	for _, t := range c.open {
		to := c.graph.Nodes[t.id]
		if to == nil {
			c.errs.addf(t.path, "must be the id of a node: no node has the id %q", t.id)
		}
		t.from.Branches[t.branch].To = to
	}
}

// reach reports a missing start, or else unreachable nodes.
func (c *compiler) reach() {
	if c.graph.Start == nil {
		c.errs.addf("nodes", "must have one start node: set isStart in the data of one node")
		return
	}
	reached := make(map[*Node]bool, len(c.nodes))
	next := append([]*Node{c.graph.Start}, c.graph.Globals...)
	for len(next) > 0 {
		n := next[len(next)-1]
		next = next[:len(next)-1]
		if n == nil || reached[n] {
			continue
		}
		reached[n] = true
		for _, e := range n.Edges {
			next = append(next, e.To)
		}
		for _, b := range n.Branches {
			next = append(next, b.To)
		}
	}
	for i, n := range c.nodes {
		if n != nil && !reached[n] {
			c.errs.addf(Entry("nodes", i), "must be reachable: no edge and no branch leads to node %q", n.ID)
		}
	}
}
