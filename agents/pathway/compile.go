package pathway

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/internal/tree"
	"github.com/callwright/callwright/agents/template"
)

// Longest texts, in characters, as openapi.yaml has them.
const (
	longestID          = 128
	longestType        = 64
	longestName        = 200
	longestPrompt      = 32768
	longestCondition   = 8000
	longestLabel       = 1000
	longestDescription = 4000
)

// compiler makes one Graph.
type compiler struct {
	graph  *Graph
	errs   callwright.FieldErrors
	nodes  []*Node        // of every entry of the document; nil for one that is no node
	places map[string]int // of the nodes in that list, by id
	ways   []openBranch   // branches whose ends are still names
}

// openBranch is a branch of a node that leads to a node by its id.
type openBranch struct {
	path   string
	from   *Node
	branch int
	to     string
}

// Compile checks a document and makes it ready to be walked. What is wrong is named all at once, as callwright.FieldErrors: by
// nodes, then by edges, in the document's order, then what concerns all of it; each with the path of the fault, such as
// "nodes[3].data.url", and no more than the first hundred. Of a document that is too large, or is not all JSON, nothing
// else is looked at.
//
// What a node's type does not use has no effect and is not checked, nor is what is not known here: position, of
// modelOptions what is not modelName (or modelType), newTemperature (or temperature), skipUserResponse and
// disableSilenceRepeat, of extractVarSettings what is not ignorePrevious, warmTransferFields, and the examples
// (dialogueExamples, conditionExamples, pathwayExamples). A member that is null counts as absent.
//
// Several forms are understood: extractVars as [name, type, description] or as objects of these; headers as an object, or
// as a list of [name, value] or {key, value}; timeoutValue as a number or a text, in seconds; = and is for == in
// responsePathways; the label and the description of an edge beside its data (see Document.Normalize).
//
// Every node must be reached from the start or from a global node, by edges and branches. Edges that are always taken may
// lead in a circle: the Runtime's limit of steps ends such a turn.
func Compile(d Document) (*Graph, error) {
	c := &compiler{graph: &Graph{}}
	if c.sizes(d); len(c.errs) > 0 {
		return nil, c.errs
	}
	nodes, edges := c.parse("nodes", d.Nodes), c.parse("edges", d.Edges)
	if len(c.errs) > 0 {
		return nil, c.errs
	}
	c.graph.Nodes = make(map[string]*Node, len(nodes))
	c.places = make(map[string]int, len(nodes))
	c.nodes = make([]*Node, len(nodes))
	for i, v := range nodes {
		c.entry(i, v)
	}
	c.edges(edges)
	c.branches()
	c.reach()
	if err := c.errs.OrNil(); err != nil {
		return nil, err
	}
	sum := sha256.New()
	canonical(nodes, edges, func(piece []byte) { sum.Write(piece) })
	c.graph.Hash = hex.EncodeToString(sum.Sum(nil))
	return c.graph, nil
}

// Node is the node of an id; nil: there is none.
func (g *Graph) Node(id string) *Node { return g.Nodes[id] }

// sizes holds the document to its limits.
func (c *compiler) sizes(d Document) {
	if len(d.Nodes) > MaxNodes {
		c.faultf("nodes", "must not be more than %d", MaxNodes)
	}
	if len(d.Edges) > MaxEdges {
		c.faultf("edges", "must not be more than %d", MaxEdges)
	}
	if d.size() > MaxBytes {
		c.faultf("", "the pathway must not have more than %d bytes", MaxBytes)
	}
}

// size is how many bytes a document has.
func (d Document) size() (bytes int) {
	for _, raw := range d.Nodes {
		bytes += len(raw)
	}
	for _, raw := range d.Edges {
		bytes += len(raw)
	}
	return bytes
}

// entry reads an entry of the list of nodes: a node, or the settings of the whole pathway.
func (c *compiler) entry(i int, v tree.Value) {
	top := fields{c, path{list: "nodes", i: i}, v}
	if v.Kind != tree.Object {
		c.faultf(top.at(""), "must be an object")
		return
	}
	if config := v.Get("globalConfig"); config.Kind > tree.Null {
		c.config(top)
		return
	}
	n := &Node{ID: top.need("id", longestID)}
	c.nodes[i] = n
	if first, taken := c.places[n.ID]; taken {
		c.faultf(top.at("id"), "%q is the id of %s already", n.ID, entry("nodes", first))
	} else if n.ID != "" {
		c.places[n.ID] = i
		c.graph.Nodes[n.ID] = n
	}
	data := top.object("data")
	c.common(n, data)
	c.typed(n, top, data)
}

// config reads the settings of the whole pathway.
func (c *compiler) config(top fields) {
	for _, name := range []string{"id", "type", "data"} {
		if v := top.of.Get(name); v.Kind > tree.Null {
			c.faultf(top.at("globalConfig"), "must stand in an entry of its own, without %s", name)
		}
	}
	if c.graph.Prompt != nil {
		c.faultf(top.at("globalConfig"), "must stand in one entry only")
	}
	config := top.object("globalConfig")
	if c.graph.Prompt = config.template("globalPrompt", longestPrompt); c.graph.Prompt == nil {
		c.graph.Prompt = template.Parse("")
	}
}

// edges reads the edges.
func (c *compiler) edges(values []tree.Value) {
	seen := make(map[string]int, len(values))
	for i := range values {
		settleEdge(&values[i])
		top := fields{c, path{list: "edges", i: i}, values[i]}
		if top.of.Kind != tree.Object {
			c.faultf(top.at(""), "must be an object")
			continue
		}
		e := &Edge{ID: top.need("id", longestID)}
		if first, taken := seen[e.ID]; taken {
			c.faultf(top.at("id"), "%q is the id of %s already", e.ID, entry("edges", first))
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
			c.faultf(data.at("label"), "is missing: say when to take the edge, or set alwaysPick")
		}
		if from != nil {
			c.leave(from, e, top)
		}
	}
}

// end is the node at one end of an edge; nil: there is none.
func (c *compiler) end(edge fields, name string) *Node {
	id := edge.need(name, longestID)
	n := c.graph.Nodes[id]
	if id != "" && n == nil {
		c.faultf(edge.at(name), "there is no node %q", id)
	}
	return n
}

// leave adds an edge to the node that it leaves.
func (c *compiler) leave(from *Node, e *Edge, edge fields) {
	if from.Type == NodeEnd {
		c.faultf(edge.at("source"), "nothing comes after the End Call node %q", from.ID)
	}
	if e.Always && slices.ContainsFunc(from.Edges, func(e *Edge) bool { return e.Always }) {
		c.faultf(edge.at("data.alwaysPick"), "another edge of node %q is always taken", from.ID)
	}
	from.Edges = append(from.Edges, e)
}

// branches leads the branches of webhook nodes to their nodes.
func (c *compiler) branches() {
	for _, w := range c.ways {
		to := c.graph.Nodes[w.to]
		if to == nil {
			c.faultf(w.path, "there is no node %q", w.to)
		}
		w.from.Branches[w.branch].To = to
	}
}

// reach wants one start, and a way to every node.
func (c *compiler) reach() {
	if c.graph.Start == nil {
		c.faultf("nodes", "one node must be the start, with isStart in its data")
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
			c.faultf(entry("nodes", i), "nothing leads to node %q", n.ID)
		}
	}
}
