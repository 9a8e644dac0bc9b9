package analytics

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/callwright/callwright/agenttest/stats"
)

// These constants limit a Flow, and name the two entries that combine the scenarios and the nodes beyond the limits. From the entry of the
// other nodes, runs continue to their outcomes.
const (
	MaxLayers      = 12
	maxFlowNodes   = 1500
	maxFlowStarts  = 500  // scenarios
	maxFlowLinks   = 9000 // links that lead to nodes
	otherNodes     = "Other nodes"
	otherScenarios = "Other scenarios"
)

// Flow describes how runs proceed from scenarios through nodes to outcomes. A node has an entry for each position at which runs first visit
// it, and counts once per run. So the flow contains no cycles, and between scenarios and outcomes, each entry's inflow equals its outflow.
type Flow struct {
	Entries []Entry
	Links   []Link
}

// Entry is a scenario, a node at a position, or an outcome in a Flow.
type Entry struct {
	ID       string
	Name     string
	Type     string // TypeScenario, TypeOutcome, TypeOther or the type of the node
	Category Category
}

// These constants are the types of entries that are not nodes.
const (
	TypeScenario = "scenario"
	TypeOutcome  = "outcome"
	TypeOther    = "other"
)

// Category is the role of an entry in the flow.
type Category string

// The Category of an Entry.
const (
	IsScenario Category = "scenario"
	IsStart    Category = "start" // the first node of runs
	IsMiddle   Category = "middle"
	IsEnd      Category = "end" // the last node of all runs through this entry
	IsOutcome  Category = "outcome"
)

// Link counts the runs that proceeded from one entry to the next. Runs is the sum of the other counts.
type Link struct {
	Source, Target string // ids of entries

	Runs, Passed, Failed, Unscored int
}

// place is the state of an entry while runs are added. The values of kind are in the order of the flow.
type place struct {
	kind  placeKind
	layer int // layer of a node, from 1
	id    string
	runs  int
	ends  bool // no run continued to a node
}

type placeKind int

const (
	isScenario placeKind = iota
	isNode
	isOther
	isOutcome
)

// These constants are indexes of places that every flow contains. The outcomes come first, indexed by stats.State; the entries for nodes
// and scenarios beyond the limits follow.
const (
	otherPlace         int32 = 4
	otherScenarioPlace int32 = 5
)

type flow struct {
	places    []place
	nodes     map[nodeKey]int32
	scenarios int
	links     map[linkKey]*[4]int // number of runs by stats.State
	free      int                 // number of links that may still be added
}

type nodeKey struct {
	layer int
	id    string
}

type linkKey struct{ from, to int32 }

// route is a path through the nodes of the flow. It may be empty.
type route struct {
	first, last int32 // places; -1 if the route is empty
	links       []*[4]int
	places      []int32
}

func newFlow() flow {
	f := flow{nodes: map[nodeKey]int32{}, links: map[linkKey]*[4]int{}, free: maxFlowLinks}
	for _, id := range []string{"passed", "failed", "error", "cancelled"} {
		f.places = append(f.places, place{kind: isOutcome, id: id})
	}
	f.places = append(f.places, place{kind: isOther}, place{kind: isScenario})
	return f
}

func (f *flow) append(p place) int32 {
	f.places = append(f.places, p)
	return int32(len(f.places) - 1)
}

// scenario adds a place for a scenario and returns it. Beyond the limit, it returns the common place of the other scenarios.
func (f *flow) scenario(id string) int32 {
	if f.scenarios == maxFlowStarts {
		return otherScenarioPlace
	}
	f.scenarios++
	return f.append(place{kind: isScenario, id: id})
}

// node returns the place of a node in a layer, and adds it if necessary. ok is false if the limit prevents that.
func (f *flow) node(layer int, id string) (at int32, ok bool) {
	key := nodeKey{layer, id}
	at, ok = f.nodes[key]
	if !ok && len(f.nodes) < maxFlowNodes {
		at, ok = f.append(place{kind: isNode, layer: layer, id: id, ends: true}), true
		f.nodes[key] = at
	}
	return at, ok
}

// link returns the counts of a link, and adds the link if necessary. It returns nil beyond the limit. Links to the four outcomes and to the
// other nodes are not limited, because each place has at most five such links.
func (f *flow) link(from, to int32) *[4]int {
	l := f.links[linkKey{from, to}]
	if l != nil {
		return l
	}
	if to > otherPlace {
		if f.free == 0 {
			return nil
		}
		f.free--
	}
	l = new([4]int)
	f.links[linkKey{from, to}] = l
	return l
}

// route returns the route through distinct nodes. From the first node beyond a limit, the route leads to the entry of the other nodes.
func (f *flow) route(path []string) route {
	r := route{first: -1, last: -1}
	for i, id := range path {
		at, ok := otherPlace, i < MaxLayers
		if ok {
			at, ok = f.node(i+1, id)
		}
		var l *[4]int
		if ok && i > 0 {
			l = f.link(r.last, at)
			ok = l != nil
		}
		if !ok {
			at = otherPlace
			if i > 0 {
				l = f.link(r.last, at)
			}
		}
		if i == 0 {
			r.first = at
		} else {
			f.places[r.last].ends = false
			r.links = append(r.links, l)
		}
		r.last, r.places = at, append(r.places, at)
		if at == otherPlace {
			break
		}
	}
	return r
}

// add counts a run that started with the scenario at the place from and followed the route r.
func (f *flow) add(from int32, r *route, s stats.State) {
	f.places[from].runs++
	outcome := int32(s)
	f.places[outcome].runs++
	if r.first < 0 {
		f.link(from, outcome)[s]++
		return
	}
	begin := f.link(from, r.first)
	if begin == nil { // the link exceeds the limit
		f.link(from, otherPlace)[s]++
		f.places[otherPlace].runs++
		f.link(otherPlace, outcome)[s]++
		return
	}
	begin[s]++
	for _, at := range r.places {
		f.places[at].runs++
	}
	for _, l := range r.links {
		l[s]++
	}
	f.link(r.last, outcome)[s]++
}

// report returns the flow. Its entries are in this order: scenarios, nodes by layer, the other nodes, outcomes. Scenarios, and nodes of the
// same layer, are in descending order of their numbers of runs.
func (f *flow) report(names Names) Flow {
	var order []int32
	for i, p := range f.places {
		if p.runs > 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		p, q := f.places[a], f.places[b]
		byRuns := cmp.Compare(q.runs, p.runs)
		if p.kind == isOutcome {
			byRuns = 0
		}
		return cmp.Or(cmp.Compare(p.kind, q.kind), cmp.Compare(p.layer, q.layer), byRuns, cmp.Compare(p.id, q.id), cmp.Compare(a, b))
	})
	out := Flow{Entries: make([]Entry, len(order)), Links: []Link{}}
	rank := make(map[int32]int, len(order))
	for i, at := range order {
		out.Entries[i], rank[at] = f.places[at].entry(names), i
	}
	keys := make([]linkKey, 0, len(f.links))
	for k, l := range f.links {
		if l[0]+l[1]+l[2]+l[3] > 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b linkKey) int {
		return cmp.Or(cmp.Compare(rank[a.from], rank[b.from]), cmp.Compare(rank[a.to], rank[b.to]))
	})
	for _, k := range keys {
		l := f.links[k]
		link := Link{
			Source: out.Entries[rank[k.from]].ID, Target: out.Entries[rank[k.to]].ID, Passed: l[stats.Passed], Failed: l[stats.Failed],
			Unscored: l[stats.Error] + l[stats.Cancelled],
		}
		link.Runs = link.Passed + link.Failed + link.Unscored
		out.Links = append(out.Links, link)
	}
	return out
}

// outcomes maps the ids of the outcomes to their names.
var outcomes = map[string]string{"passed": "Passed", "failed": "Failed", "error": "Error", "cancelled": "Cancelled"}

// entry returns the Entry of a place.
func (p place) entry(names Names) Entry {
	switch p.kind {
	case isScenario:
		if p.id == "" {
			return Entry{"x:scenarios", otherScenarios, TypeScenario, IsScenario}
		}
		return Entry{"s:" + p.id, names.Scenario(p.id), TypeScenario, IsScenario}
	case isOther:
		return Entry{"x:nodes", otherNodes, TypeOther, IsMiddle}
	case isOutcome:
		return Entry{"o:" + p.id, outcomes[p.id], TypeOutcome, IsOutcome}
	case isNode:
	}
	e := Entry{ID: fmt.Sprintf("n%d:%s", p.layer, p.id), Category: IsMiddle}
	e.Name, e.Type = names.Node(p.id)
	switch {
	case p.layer == 1:
		e.Category = IsStart
	case p.ends:
		e.Category = IsEnd
	}
	return e
}
