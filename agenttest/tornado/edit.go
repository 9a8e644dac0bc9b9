package tornado

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
)

// Plan is a proposal of a Fixer.
type Plan struct {
	Fixes []Fix `json:"fixes"`
}

// Fix is one change of a plan.
type Fix struct {
	ID          string        `json:"id"`
	Kind        analysis.Kind `json:"type"`
	Node        string        `json:"target_node"` // id
	Description string        `json:"description"`
	Edits       []Edit        `json:"edits"`
}

// Edit is one edit of a document.
type Edit struct {
	Op    Op     `json:"op"`
	Field string `json:"field,omitempty"` // of SetText: a member of the node's data
	Text  string `json:"text,omitempty"`  // of SetText; of AddEdge and SetLabel: condition of the edge, empty: always
	Edge  string `json:"edge,omitempty"`  // of the other operations: id
	To    string `json:"to,omitempty"`    // of AddEdge and Redirect: id of a node
}

// Op is an operation on the Node of the Fix.
type Op string

// The operations.
const (
	SetText    Op = "set_text"    // sets a text of the node
	AddEdge    Op = "add_edge"    // adds an edge from the node
	SetLabel   Op = "set_label"   // sets the condition of an edge from the node
	Redirect   Op = "redirect"    // changes the target of an edge from the node
	RemoveEdge Op = "remove_edge" // deletes an edge from the node
)

// fieldsOf lists the texts that each kind of fix may set.
var fieldsOf = map[analysis.Kind][]string{
	analysis.PromptChange:    {"prompt", "text"},
	analysis.ToneImprovement: {"prompt", "text"},
	analysis.NodeConfig:      {"condition", "globalLabel", "globalDescription"},
}

// Limits bounds the changes of plans.
type Limits struct {
	Allow    []string // ids of nodes; empty: all
	Deny     []string // ids of nodes
	MaxBytes int      // that a fix changes in a text of a node; 0: DefaultMaxBytes
	MaxShare float64  // share of the text, if larger; 0: DefaultMaxShare
}

// Defaults of Limits.
const (
	DefaultMaxBytes = 2 << 10
	DefaultMaxShare = 0.2
)

func (l Limits) filled() Limits {
	if l.MaxBytes <= 0 {
		l.MaxBytes = DefaultMaxBytes
	}
	if l.MaxShare <= 0 {
		l.MaxShare = DefaultMaxShare
	}
	return l
}

// mayChange reports whether a plan may change a node.
func (l Limits) mayChange(node string) bool {
	return (len(l.Allow) == 0 || slices.Contains(l.Allow, node)) && !slices.Contains(l.Deny, node)
}

// Hash returns equal texts for plans with equal edits.
func (p Plan) Hash() string {
	var edits []string
	for _, f := range p.Fixes {
		for _, e := range f.Edits {
			edits = append(edits, fmt.Sprintf("%q %q %q %q %q %q", f.Node, e.Op, e.Field, e.Text, e.Edge, e.To))
		}
	}
	slices.Sort(edits)
	sum := sha256.Sum256([]byte(strings.Join(edits, "\n")))
	return hex.EncodeToString(sum[:])
}

// touches reports whether the plan changes a node.
func (p Plan) touches(node string) bool {
	return slices.ContainsFunc(p.Fixes, func(f Fix) bool { return f.Node == node })
}

// edits counts the edits of a plan.
func (p Plan) edits() (n int) {
	for _, f := range p.Fixes {
		n += len(f.Edits)
	}
	return n
}

// The limits of a plan.
const (
	maxEdits = 20
	maxTexts = 64 << 10 // bytes of the texts of all edits
)

// texts returns the size of a plan's texts in bytes.
func (p Plan) texts() (n int) {
	for _, f := range p.Fixes {
		for _, e := range f.Edits {
			n += len(e.Text)
		}
	}
	return n
}

// Apply returns a document with a plan's edits. It does not change d. The error, CodeBadRequest, names the broken limit in words
// for the Fixer.
func Apply(d graph.Document, p Plan, l Limits) (graph.Document, error) {
	l = l.filled()
	if len(p.Fixes) > maxFixes || p.edits() > maxEdits {
		return d, callwright.Invalid("fixes", "must have at most %d fixes with %d edits together", maxFixes, maxEdits)
	}
	if p.texts() > maxTexts {
		return d, callwright.Invalid("fixes", "must have texts of at most %d bytes together", maxTexts)
	}
	w := &editedDocument{before: d, nodes: slices.Clone(d.Nodes), edges: slices.Clone(d.Edges), limits: l}
	for i, f := range p.Fixes {
		if err := w.fix(f); err != nil {
			return d, callwright.InField(fmt.Sprintf("fixes[%d]", i), err)
		}
	}
	return graph.Document{Nodes: w.nodes, Edges: w.edges}, nil
}

// editedDocument is a document under change.
type editedDocument struct {
	before       graph.Document
	nodes, edges []json.RawMessage
	limits       Limits
	set          []string // set fields, as node and field
}

// fix makes the edits of a fix.
func (w *editedDocument) fix(f Fix) error {
	switch at := find(w.nodes, f.Node); {
	case !w.limits.mayChange(f.Node):
		return callwright.Invalid("", "the node %q must not be changed", f.Node)
	case at < 0:
		return callwright.Invalid("", "there is no node %q", f.Node)
	case f.Kind != analysis.FlowChange && fieldsOf[f.Kind] == nil:
		return callwright.Invalid("", "there is no kind of change %q", f.Kind)
	}
	for _, e := range f.Edits {
		var err error
		switch {
		case e.Op == SetText && f.Kind != analysis.FlowChange:
			err = w.setText(f, e)
		case f.Kind == analysis.FlowChange && e.Op != SetText:
			err = w.changeFlow(f.Node, e)
		default:
			err = callwright.Invalid("", "a %s must not %s", f.Kind, e.Op)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setText sets a text of a node.
func (w *editedDocument) setText(f Fix, e Edit) error {
	if !slices.Contains(fieldsOf[f.Kind], e.Field) {
		return callwright.Invalid("", "a %s must not set %q, only %q", f.Kind, e.Field, fieldsOf[f.Kind])
	}
	if slices.Contains(w.set, f.Node+" "+e.Field) {
		return callwright.Invalid("", "the text %q of the node %q is set twice: set it once", e.Field, f.Node)
	}
	w.set = append(w.set, f.Node+" "+e.Field)
	at := find(w.nodes, f.Node)
	node, data, err := open(w.nodes[at])
	if err != nil {
		return err
	}
	_, was, err := open(w.before.Nodes[at]) // not the changed data: several edits together change at most MaxBytes or MaxShare
	if err != nil {
		return err
	}
	var before string
	_ = json.Unmarshal(was[e.Field], &before) // other types leave it empty
	if err := w.checkText(before, e.Text); err != nil {
		return err
	}
	data[e.Field] = encode(e.Text)
	w.nodes[at] = shut(node, data)
	return nil
}

// address matches texts that a fix must neither add nor change: addresses of requests and numbers of calls. It matches hosts
// without a scheme in the most common domains, and no numbers in words.
var address = regexp.MustCompile(`(?i)\b(?:[a-z][a-z0-9+.-]*://|(?:sips?|tel|mailto):|www\.)[^\s"'<>]+` +
	`|[\w.+-]+@[\w-]+(?:\.[\w-]+)+` +
	`|\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|co|info|biz|app|dev|ai|xyz|online|site|shop|link|me|us|uk|eu|de)\b(?:/[^\s"'<>]*)?` +
	`|\+?\d[\d ()-]{7,}\d|\+?\d{3,4}(?:\.\d{2,4}){2,}` +
	`|\p{Nd}(?:[^\p{L}\p{Nd}:]{0,3}\p{Nd}){8,}` + // nine digits with anything but a colon between them, which occurs in times of day
	`|\b\pL[\pL\d-]*(?:\.\pL[\pL\d-]*)+/` + // a host and a path
	`|\b[0-9a-f]{32,}\b`) // a key or a checksum

// plain returns a text to search for addresses and keys: without invisible characters, and with one form for look-alike characters.
func plain(text string) string { return norm.NFKC.String(llm.Clean(text)) }

// bringsIn returns the first text of after that is not in before.
func bringsIn(before, after []string) (thing string, found bool) {
	i := slices.IndexFunc(after, func(s string) bool { return !slices.Contains(before, s) })
	if i < 0 {
		return "", false
	}
	return after[i], true
}

// checkText rejects too large a change of a text, and a change of addresses or keys.
func (w *editedDocument) checkText(before, after string) error {
	most := max(w.limits.MaxBytes, int(w.limits.MaxShare*float64(len(before))))
	if n := changed(before, after); n > most {
		return callwright.Invalid("", "a text must not change by more than %d bytes, and this one changes by %d", most, n)
	}
	before, after = plain(before), plain(after)
	if a, found := bringsIn(address.FindAllString(before, -1), address.FindAllString(after, -1)); found {
		return callwright.Invalid("", "a text must not bring in the address or the number %q", callwright.Clip(a, maxQuoted))
	}
	if _, found := bringsIn(callwright.Credentials(before), callwright.Credentials(after)); found {
		return callwright.Invalid("", "a text must not bring in a key or a password")
	}
	if strings.Count(after, callwright.Redacted) > strings.Count(before, callwright.Redacted) {
		return callwright.Invalid("", "a text must not have %q: what stood there is not known", callwright.Redacted)
	}
	return nil
}

// maxQuoted is the maximum length of an address in an error, in bytes.
const maxQuoted = 100

// changed returns the number of bytes between the common beginning and the common end of two texts.
func changed(a, b string) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return max(len(a), len(b))
}

// changeFlow changes an edge that begins at a node.
func (w *editedDocument) changeFlow(node string, e Edit) error {
	if (e.Op == AddEdge || e.Op == Redirect) && find(w.nodes, e.To) < 0 {
		return callwright.Invalid("", "there is no node %q to lead to", e.To)
	}
	if err := w.checkText("", e.Text); err != nil {
		return err
	}
	if (e.Op == AddEdge || e.Op == Redirect) && !w.mayLead(e.To) {
		return callwright.Invalid("", "no edge must be led to the node %q", e.To)
	}
	if e.Op == AddEdge {
		w.edges = append(w.edges, encode(map[string]any{
			"id": w.newEdge(), "source": node, "target": e.To, "data": map[string]any{"label": e.Text, "alwaysPick": e.Text == ""},
		}))
		return nil
	}
	at := find(w.edges, e.Edge)
	if at < 0 {
		return callwright.Invalid("", "there is no edge %q", e.Edge)
	}
	edge, data, err := open(w.edges[at])
	if err != nil {
		return err
	}
	var source string
	if _ = json.Unmarshal(edge["source"], &source); source != node {
		return callwright.Invalid("", "the edge %q does not begin at the node %q", e.Edge, node)
	}
	switch e.Op {
	case SetLabel:
		data["label"] = encode(e.Text)
		if _, given := data["alwaysPick"]; given || e.Text == "" {
			data["alwaysPick"] = encode(e.Text == "")
		}
	case Redirect:
		edge["target"] = encode(e.To)
	case RemoveEdge:
		w.edges = slices.Delete(w.edges, at, at+1)
		return nil
	default:
		return callwright.Invalid("", "there is no operation %q", e.Op)
	}
	w.edges[at] = shut(edge, data)
	return nil
}

// acting lists the types of nodes that act on other systems.
var acting = []string{"Webhook", "Transfer Call", "Press Button"}

// mayLead reports whether an edge may lead to a node: to no denied node, and to an acting node only if the plan may change it.
func (w *editedDocument) mayLead(to string) bool {
	if slices.Contains(w.limits.Deny, to) {
		return false
	}
	var node struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(w.nodes[find(w.nodes, to)], &node) // Apply has checked the document
	return w.limits.mayChange(to) || !slices.Contains(acting, node.Type)
}

// newEdge returns an id that no edge has.
func (w *editedDocument) newEdge() string {
	for n := len(w.edges) + 1; ; n++ {
		if id := fmt.Sprint("added ", n); find(w.edges, id) < 0 {
			return id
		}
	}
}

// find returns the index of the node or the edge with an id, or -1.
func find(list []json.RawMessage, id string) int {
	return slices.IndexFunc(list, func(raw json.RawMessage) bool {
		var v struct {
			ID string `json:"id"`
		}
		return json.Unmarshal(raw, &v) == nil && v.ID != "" && v.ID == id
	})
}

// open returns the members of a node or an edge, and the members of its data.
func open(raw json.RawMessage) (members, data map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, nil, callwright.Invalid("", "the document cannot be read")
	}
	if err := json.Unmarshal(members["data"], &data); err != nil || data == nil {
		data = map[string]json.RawMessage{}
	}
	return members, data, nil
}

// shut encodes an opened node or edge.
func shut(members, data map[string]json.RawMessage) json.RawMessage {
	members["data"] = encode(data)
	return encode(members)
}

// encode encodes a value that JSON can always encode.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
