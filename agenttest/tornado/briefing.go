package tornado

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/analysis"
)

// These constants limit the input of a Fixer's model, in bytes of JSON except for maxSuggestions. Longer texts are truncated. Beyond the
// limits, the input omits the members of the nodes farthest from the nodes at fault, the farthest edges, the oldest plans, and findings
// that do not fit.
const (
	MaxEvidence = 220 << 10 // of the whole input

	maxReadNodes    = 96 << 10
	maxReadEdges    = 40 << 10
	maxReadFindings = 48 << 10
	maxReadRejected = 32 << 10

	maxSettable    = 12 << 10 // of a text that a plan may set; longer texts are truncated to maxOther
	maxOther       = 4 << 10  // of another member
	maxReasonRead  = 1 << 10
	maxCauseRead   = 2 << 10
	maxSuggestions = 3
)

// briefing is a Brief in the form that a model reads.
type briefing struct {
	brief  Brief
	texts  map[string]map[string]string // texts included in full, by node id and member
	closed map[string]map[string]bool   // texts not included in full, by node id and member
	edges  map[string]bool              // whether an edge is included, by id

	facts readFacts
}

// readFacts is the JSON form of a briefing's evidence.
type readFacts struct {
	Nodes    []json.RawMessage `json:"nodes"`
	Edges    []json.RawMessage `json:"edges"`
	Findings []json.RawMessage `json:"findings"`
	Rejected []json.RawMessage `json:"rejected"`
	Limits   readLimits        `json:"limits"`
}

type readLimits struct {
	MaxBytes int     `json:"max_bytes"`
	MaxShare float64 `json:"max_share"`
}

type readNode struct {
	ID        string            `json:"id"`
	Name      string            `json:"name,omitempty"`
	Type      string            `json:"type,omitempty"`
	MayChange bool              `json:"may_change"`
	Texts     map[string]string `json:"texts,omitempty"`
	Other     map[string]string `json:"other,omitempty"`
	LeftOut   bool              `json:"left_out,omitempty"`
}

type readEdge struct {
	ID          string `json:"id"`
	Source      string `json:"source"`
	Target      string `json:"target"`
	Label       string `json:"label,omitempty"`
	Description string `json:"description,omitempty"`
	Always      bool   `json:"always,omitempty"`
}

type readFinding struct {
	Scenario    string           `json:"scenario"`
	Passed      int              `json:"passed"`
	Failed      int              `json:"failed"`
	Node        string           `json:"node,omitempty"`
	Reason      string           `json:"reason,omitempty"`
	Cause       string           `json:"cause,omitempty"`
	FaultyNode  string           `json:"faulty_node,omitempty"`
	Suggestions []readSuggestion `json:"suggestions,omitempty"`
}

type readSuggestion struct {
	Kind        analysis.Kind `json:"type"`
	Node        string        `json:"node,omitempty"`
	Description string        `json:"description"`
	Change      string        `json:"change"`
}

type readRejection struct {
	Fixes  []Fix  `json:"fixes"`
	Reason string `json:"reason"`
}

// newBriefing returns a Brief in the form that a model reads.
func newBriefing(b Brief) *briefing {
	l := b.Limits.filled()
	r := &briefing{
		brief: b, texts: map[string]map[string]string{}, closed: map[string]map[string]bool{}, edges: map[string]bool{},
		facts: readFacts{Limits: readLimits{l.MaxBytes, l.MaxShare}},
	}
	edges := r.allEdges()
	near := b.near(edges)
	r.readNodes(near, l)
	r.readEdges(edges, near)
	r.readFindings()
	r.readRejected()
	return r
}

// evidence returns the JSON of the facts for the model.
func (r *briefing) evidence() json.RawMessage { return compact(r.facts) }

// near returns the ranks of nodes: 2 for nodes that findings or their suggestions name, 1 for the neighbors of these nodes, and no entry
// for others.
func (b Brief) near(edges []readEdge) map[string]int {
	near := map[string]int{}
	for _, f := range b.Findings {
		near[f.Tally.Node] = 2
		if f.Analysis == nil {
			continue
		}
		near[f.Analysis.Node] = 2
		for _, s := range f.Analysis.Suggestions {
			near[s.Node] = 2
		}
	}
	delete(near, "")
	next := map[string]int{}
	for _, e := range edges {
		if near[e.Source] == 2 || near[e.Target] == 2 {
			next[e.Source], next[e.Target] = 1, 1
		}
	}
	for id := range next {
		near[id] = max(near[id], 1)
	}
	return near
}

// allEdges returns the decoded edges of the document. It omits edges without an id and edges that cannot be decoded.
func (r *briefing) allEdges() []readEdge {
	edges := make([]readEdge, 0, len(r.brief.Document.Edges))
	for _, raw := range r.brief.Document.Edges {
		var e struct {
			ID     string `json:"id"`
			Source string `json:"source"`
			Target string `json:"target"`
			Data   struct {
				Label       string `json:"label"`
				Description string `json:"description"`
				Always      bool   `json:"alwaysPick"`
			} `json:"data"`
		}
		if json.Unmarshal(raw, &e) == nil && e.ID != "" {
			edges = append(edges, readEdge{e.ID, e.Source, e.Target, e.Data.Label, e.Data.Description, e.Data.Always})
		}
	}
	return edges
}

// readNodes adds the nodes to the facts, those with the highest rank first. Nodes that exceed the limit are added without their members.
func (r *briefing) readNodes(near map[string]int, l Limits) {
	type node struct {
		ID   string                     `json:"id"`
		Type string                     `json:"type"`
		Data map[string]json.RawMessage `json:"data"`
	}
	var nodes []node
	for _, raw := range r.brief.Document.Nodes {
		var n node
		if json.Unmarshal(raw, &n) == nil && n.ID != "" {
			nodes = append(nodes, n)
		}
	}
	slices.SortStableFunc(nodes, func(a, b node) int { return near[b.ID] - near[a.ID] })
	room := maxReadNodes
	for _, n := range nodes {
		bare := readNode{ID: n.ID, Type: n.Type, MayChange: l.mayChange(n.ID)}
		_ = json.Unmarshal(n.Data["name"], &bare.Name) // a name of another type stays empty
		bare.Name = callwright.Redact(bare.Name)
		full := bare
		full.Texts, full.Other = members(n.Data)
		r.texts[n.ID], r.closed[n.ID] = full.Texts, map[string]bool{}
		for name := range full.Other {
			r.closed[n.ID][name] = true
		}
		if fits(&room, &r.facts.Nodes, full) {
			continue
		}
		for name := range full.Texts {
			r.closed[n.ID][name] = true
		}
		bare.LeftOut = true
		fits(&room, &r.facts.Nodes, bare)
	}
}

// members returns the members of a node's data for the model. texts contains, in full, those that a plan may set, unless they are long or
// contain credentials. other contains the remaining ones, redacted and truncated.
func members(data map[string]json.RawMessage) (texts, other map[string]string) {
	texts, other = map[string]string{}, map[string]string{}
	for name, raw := range analysis.Shown(data) {
		if name == "name" {
			continue
		}
		text := string(raw)
		var value string
		settable := slices.Contains(texted, name) && json.Unmarshal(raw, &value) == nil
		if settable {
			text = value
		}
		clean := callwright.Redact(text)
		if settable && clean == text && len(text) <= maxSettable {
			texts[name] = text
			continue
		}
		other[name] = callwright.Clip(clean, maxOther)
	}
	return texts, other
}

// texted lists the members of a node's data that SetText may set.
var texted = slices.Concat(fieldsOf[analysis.PromptChange], fieldsOf[analysis.NodeConfig])

func (r *briefing) readEdges(edges []readEdge, near map[string]int) {
	rank := func(e readEdge) int { return max(near[e.Source], near[e.Target]) }
	slices.SortStableFunc(edges, func(a, b readEdge) int { return rank(b) - rank(a) })
	room := maxReadEdges
	for _, e := range edges {
		e.Label, e.Description = callwright.Redact(e.Label), callwright.Redact(e.Description)
		r.edges[e.ID] = fits(&room, &r.facts.Edges, e)
	}
}

func (r *briefing) readFindings() {
	room := maxReadFindings
	for _, f := range r.brief.Findings {
		t := f.Tally
		one := readFinding{Scenario: f.Scenario, Passed: t.Passed, Failed: t.Failed, Node: t.Node, Reason: quoted(t.Reason, maxReasonRead)}
		if a := f.Analysis; a != nil {
			one.Cause, one.FaultyNode = quoted(a.Cause, maxCauseRead), a.Node
			for _, s := range a.Suggestions[:min(len(a.Suggestions), maxSuggestions)] {
				one.Suggestions = append(one.Suggestions, readSuggestion{
					s.Kind, s.Node, quoted(s.Description, maxReasonRead), quoted(s.Change, maxReasonRead),
				})
			}
		}
		fits(&room, &r.facts.Findings, one)
	}
}

// readRejected adds the newest rejected plans that fit maxReadRejected, in the order of their rejection.
func (r *briefing) readRejected() {
	room := maxReadRejected
	for _, rejection := range slices.Backward(r.brief.Rejected) {
		one := readRejection{Reason: quoted(rejection.Reason, maxReasonRead)}
		for _, f := range rejection.Plan.Fixes {
			f.Description = quoted(f.Description, maxReasonRead)
			f.Edits = slices.Clone(f.Edits)
			for i := range f.Edits {
				f.Edits[i].Text = quoted(f.Edits[i].Text, maxReasonRead)
			}
			one.Fixes = append(one.Fixes, f)
		}
		if !fits(&room, &r.facts.Rejected, one) {
			break
		}
	}
	slices.Reverse(r.facts.Rejected)
}

// quoted redacts the credentials in a text and truncates the text to the limit most, in bytes.
func quoted(text string, most int) string { return callwright.Clip(callwright.Redact(text), most) }

// fits appends the JSON form of a value to a list if the remaining room, in bytes, suffices. It reports whether it did.
func fits(room *int, list *[]json.RawMessage, value any) bool {
	raw := compact(value)
	if len(raw)+1 > *room {
		return false
	}
	*room -= len(raw) + 1
	*list = append(*list, raw)
	return true
}

// compact encodes evidence as JSON without white space. It panics if the value has no JSON form.
func compact(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}
