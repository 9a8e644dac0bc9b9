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

// Plan is a set of fixes that a Fixer proposes together.
type Plan struct {
	Fixes []Fix `json:"fixes"`
}

// Fix changes one node of a pathway, or the edges that begin at the node.
type Fix struct {
	ID          string        `json:"id"`
	Kind        analysis.Kind `json:"type"`
	Node        string        `json:"target_node"` // id of the changed node
	Description string        `json:"description"`
	Edits       []Edit        `json:"edits"`
}

// Edit is one operation of a Fix. Op determines which of the other fields it uses.
type Edit struct {
	Op    Op     `json:"op"`
	Field string `json:"field,omitempty"` // for SetText: a member of the node's data
	Text  string `json:"text,omitempty"`  // for SetText; for AddEdge and SetLabel: the edge's condition, empty means always
	Edge  string `json:"edge,omitempty"`  // for SetLabel, Redirect and RemoveEdge: id of the edge
	To    string `json:"to,omitempty"`    // for AddEdge and Redirect: id of the target node
}

// Op is an operation on the node of a Fix, or on an edge that begins there.
type Op string

// These constants are the operations of edits.
const (
	SetText    Op = "set_text"    // sets a text of the node
	AddEdge    Op = "add_edge"    // adds an edge from the node
	SetLabel   Op = "set_label"   // sets the condition of an edge from the node
	Redirect   Op = "redirect"    // changes the target of an edge from the node
	RemoveEdge Op = "remove_edge" // deletes an edge from the node
)

// fieldsOf maps each kind of fix to the members of a node's data that it may set.
var fieldsOf = map[analysis.Kind][]string{
	analysis.PromptChange:    {"prompt", "text"},
	analysis.ToneImprovement: {"prompt", "text"},
	analysis.NodeConfig:      {"condition", "globalLabel", "globalDescription"},
}

// Limits restricts the nodes that a plan may change, and the size of a change of a text.
type Limits struct {
	Allow    []string // ids of the nodes that may change; empty allows all
	Deny     []string // ids of nodes that must not change, even if Allow lists them
	MaxBytes int      // limit of the changed bytes of a text; 0 means DefaultMaxBytes
	MaxShare float64  // share of the text that may change if this is more than MaxBytes; 0 means DefaultMaxShare
}

// These constants are the defaults of MaxBytes and MaxShare.
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

// mayChange reports whether Allow and Deny permit the change of a node.
func (l Limits) mayChange(node string) bool {
	return (len(l.Allow) == 0 || slices.Contains(l.Allow, node)) && !slices.Contains(l.Deny, node)
}

// Hash returns a SHA-256 checksum, in hexadecimal, of the plan's edits and their nodes. It ignores the order of the edits, and the ids,
// kinds and descriptions of the fixes.
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

// touches reports whether a fix of the plan names a node.
func (p Plan) touches(node string) bool {
	return slices.ContainsFunc(p.Fixes, func(f Fix) bool { return f.Node == node })
}

func (p Plan) edits() (n int) {
	for _, f := range p.Fixes {
		n += len(f.Edits)
	}
	return n
}

// These constants limit the size of a plan.
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

// Apply returns a document with a plan's edits, and does not change d. If the plan exceeds a limit or is invalid, the error is
// CodeBadRequest and describes the problem for the Fixer.
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

// editedDocument is a document while the fixes of a plan are applied to it.
type editedDocument struct {
	before       graph.Document
	nodes, edges []json.RawMessage
	limits       Limits
	set          []string // texts set so far, as "node field"
}

// fix applies all edits of a fix, or stops at the first invalid edit.
func (w *editedDocument) fix(f Fix) error {
	switch at := find(w.nodes, f.Node); {
	case !w.limits.mayChange(f.Node):
		return callwright.Invalid("", "the node %q must not be changed", f.Node)
	case at < 0:
		return callwright.Invalid("", "the node %q does not exist", f.Node)
	case f.Kind != analysis.FlowChange && fieldsOf[f.Kind] == nil:
		return callwright.Invalid("", "unknown kind of change %q", f.Kind)
	}
	for _, e := range f.Edits {
		var err error
		switch {
		case e.Op == SetText && f.Kind != analysis.FlowChange:
			err = w.setText(f, e)
		case f.Kind == analysis.FlowChange && e.Op != SetText:
			err = w.changeFlow(f.Node, e)
		default:
			err = callwright.Invalid("", "a fix of the kind %q must not %s", f.Kind, e.Op)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setText sets a text of a node. It rejects a member that the kind of fix must not set, a text that is set twice, and a change that
// checkText rejects.
func (w *editedDocument) setText(f Fix, e Edit) error {
	if !slices.Contains(fieldsOf[f.Kind], e.Field) {
		return callwright.Invalid("", "a fix of the kind %q must not set %q, only %q", f.Kind, e.Field, fieldsOf[f.Kind])
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
	_ = json.Unmarshal(was[e.Field], &before) // before stays empty if the member is no string
	if err := w.checkText(before, e.Text); err != nil {
		return err
	}
	data[e.Field] = encode(e.Text)
	w.nodes[at] = shut(node, data)
	return nil
}

// address matches texts that a fix must not add to a node or an edge: addresses, phone numbers and keys. It matches hosts without a scheme
// only in the most common domains, and does not match numbers that are spelled out.
var address = regexp.MustCompile(`(?i)\b(?:[a-z][a-z0-9+.-]*://|(?:sips?|tel|mailto):|www\.)[^\s"'<>]+` +
	`|[\w.+-]+@[\w-]+(?:\.[\w-]+)+` +
	`|\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|co|info|biz|app|dev|ai|xyz|online|site|shop|link|me|us|uk|eu|de)\b(?:/[^\s"'<>]*)?` +
	`|\+?\d[\d ()-]{7,}\d|\+?\d{3,4}(?:\.\d{2,4}){2,}` +
	`|\p{Nd}(?:[^\p{L}\p{Nd}:]{0,3}\p{Nd}){8,}` + // nine digits or more, separated by anything but colons, which times of day contain
	`|\b\pL[\pL\d-]*(?:\.\pL[\pL\d-]*)+/` + // a host and a path
	`|\b[0-9a-f]{32,}\b`) // a key or a checksum

// plain returns the form of a text that is searched for addresses and keys: without invisible characters and with look-alike characters
// unified (NFKC).
func plain(text string) string { return norm.NFKC.String(llm.Clean(text)) }

// bringsIn returns the first text of the second list that the first list does not contain. found is false if there is none.
func bringsIn(before, after []string) (thing string, found bool) {
	i := slices.IndexFunc(after, func(s string) bool { return !slices.Contains(before, s) })
	if i < 0 {
		return "", false
	}
	return after[i], true
}

// checkText rejects a change that exceeds the limits, and a text with an address, a key or a redaction mark that the earlier text did not
// contain.
func (w *editedDocument) checkText(before, after string) error {
	most := max(w.limits.MaxBytes, int(w.limits.MaxShare*float64(len(before))))
	if n := changed(before, after); n > most {
		return callwright.Invalid("", "a text must not change by more than %d bytes, and this one changes by %d", most, n)
	}
	before, after = plain(before), plain(after)
	if a, found := bringsIn(address.FindAllString(before, -1), address.FindAllString(after, -1)); found {
		return callwright.Invalid("", "a text must not add the address or the number %q", callwright.Clip(a, maxQuoted))
	}
	if _, found := bringsIn(callwright.Credentials(before), callwright.Credentials(after)); found {
		return callwright.Invalid("", "a text must not add a key or a password")
	}
	if strings.Count(after, callwright.Redacted) > strings.Count(before, callwright.Redacted) {
		return callwright.Invalid("", "a text must not contain %q: the original text there is unknown", callwright.Redacted)
	}
	return nil
}

// maxQuoted is the maximum length of an address in an error, in bytes.
const maxQuoted = 100

// changed returns how many bytes differ between two texts: the length of the longer text without their common prefix and suffix.
func changed(a, b string) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return max(len(a), len(b))
}

// changeFlow adds, changes or deletes an edge that begins at a node.
func (w *editedDocument) changeFlow(node string, e Edit) error {
	if (e.Op == AddEdge || e.Op == Redirect) && find(w.nodes, e.To) < 0 {
		return callwright.Invalid("", "the node %q, to which the edge must lead, does not exist", e.To)
	}
	if err := w.checkText("", e.Text); err != nil {
		return err
	}
	if (e.Op == AddEdge || e.Op == Redirect) && !w.mayLead(e.To) {
		return callwright.Invalid("", "an edge must not lead to the node %q", e.To)
	}
	if e.Op == AddEdge {
		w.edges = append(w.edges, encode(map[string]any{
			"id": w.newEdge(), "source": node, "target": e.To, "data": map[string]any{"label": e.Text, "alwaysPick": e.Text == ""},
		}))
		return nil
	}
	at := find(w.edges, e.Edge)
	if at < 0 {
		return callwright.Invalid("", "the edge %q does not exist", e.Edge)
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
		return callwright.Invalid("", "unknown operation %q", e.Op)
	}
	w.edges[at] = shut(edge, data)
	return nil
}

// acting lists the node types that affect other systems or the telephone line.
var acting = []string{"Webhook", "Transfer Call", "Press Button"}

// mayLead reports whether a plan may point an edge at a node. A denied node is never a target. A node that acts on other systems or the
// telephone line is a target only if the plan may change the node.
func (w *editedDocument) mayLead(to string) bool {
	if slices.Contains(w.limits.Deny, to) {
		return false
	}
	var node struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(w.nodes[find(w.nodes, to)], &node) // cannot fail: find has decoded the node
	return w.limits.mayChange(to) || !slices.Contains(acting, node.Type)
}

// newEdge returns an unused id for an edge.
func (w *editedDocument) newEdge() string {
	for n := len(w.edges) + 1; ; n++ {
		if id := fmt.Sprint("added ", n); find(w.edges, id) < 0 {
			return id
		}
	}
}

// find returns the index of the node or edge with the given id, or -1 if there is none or the id is empty.
func find(list []json.RawMessage, id string) int {
	return slices.IndexFunc(list, func(raw json.RawMessage) bool {
		var v struct {
			ID string `json:"id"`
		}
		return json.Unmarshal(raw, &v) == nil && v.ID != "" && v.ID == id
	})
}

// open returns the members of a node or an edge, and the members of its data. If the data is missing or is no object, data is an empty map.
func open(raw json.RawMessage) (members, data map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, nil, callwright.Invalid("", "the document must be valid JSON")
	}
	if err := json.Unmarshal(members["data"], &data); err != nil || data == nil {
		data = map[string]json.RawMessage{}
	}
	return members, data, nil
}

// shut encodes a node or an edge from the members that open returned.
func shut(members, data map[string]json.RawMessage) json.RawMessage {
	members["data"] = encode(data)
	return encode(members)
}

// encode encodes a value as JSON. It panics if the value has no JSON form.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
