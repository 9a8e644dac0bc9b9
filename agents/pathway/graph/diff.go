package graph

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright/agents/pathway/internal/tree"
)

// Changes contains the differences between two documents. Members that only editors use, such as position, are ignored: Changes is empty if
// and only if both documents have the same Canonical form.
type Changes struct {
	Nodes     []Difference // in the order of the later document, followed by removed nodes in the order of the earlier document
	Edges     []Difference // in the same order as Nodes
	Reordered bool         // whether the common nodes or edges of both documents are in different orders
}

// Empty reports whether the documents have no differences.
func (c Changes) Empty() bool { return len(c.Nodes) == 0 && len(c.Edges) == 0 && !c.Reordered }

// Difference describes a node or an edge that differs between two documents.
type Difference struct {
	ID      string // empty for the entry with globalConfig, and for an entry without an id
	Name    string // name of the node in the later document, or in the earlier one if it was removed
	Kind    DifferenceKind
	Members []MemberDifference // set for DifferenceChanged, sorted by path
}

// DifferenceKind names how a node or an edge differs.
type DifferenceKind string

// The kinds of a Difference.
const (
	DifferenceAdded   DifferenceKind = "added"
	DifferenceRemoved DifferenceKind = "removed"
	DifferenceChanged DifferenceKind = "changed"
)

// MaxDifference is the maximum length in bytes of a value in a MemberDifference.
const MaxDifference = 4 << 10

// MemberDifference describes a member with different values.
type MemberDifference struct {
	Path   string // for example "data.prompt" or "data.extractVars[1][2]"
	Before string // value as JSON, cut with … after MaxDifference; empty if absent
	After  string // value in the same form as Before
}

// Diff compares two documents. It matches nodes and edges by their ids.
func Diff(before, after Document) Changes {
	var c Changes
	var nodes, edges bool
	c.Nodes, nodes = compareLists(before.Nodes, after.Nodes, nodeBehaviour)
	c.Edges, edges = compareLists(before.Edges, after.Edges, edgeBehaviour)
	c.Reordered = nodes || edges
	return c
}

// element is an entry of a document, with the key by which it is matched.
type element struct {
	key   string
	value tree.Value
}

// elements parses a list. The key of an entry consists of a count that makes the key unique, and of the entry's id. Without an id,
// "globalConfig" or the entry's text replaces the id. The map contains the entries by key.
func elements(raws []json.RawMessage, behaviour func(tree.Value) tree.Value) ([]element, map[string]tree.Value) {
	var p tree.Parser
	list := make([]element, len(raws))
	byKey := make(map[string]tree.Value, len(raws))
	seen := make(map[string]int, len(raws))
	for i, raw := range raws {
		v, err := p.Parse(string(raw))
		if err != nil {
			v = tree.Value{Kind: tree.Null, Raw: string(raw)}
		}
		v = behaviour(v)
		id := v.Get("id")
		key := "id " + id.Text()
		switch config := v.Get("globalConfig"); {
		case id.Text() != "":
		case config.Kind != tree.Absent:
			key = "globalConfig"
		default:
			key = "other " + string(v.AppendCanonical(nil))
		}
		seen[key]++
		key += "\x00" + strconv.Itoa(seen[key])
		list[i] = element{key, v}
		byKey[key] = v
	}
	return list, byKey
}

// compareLists compares the nodes or the edges of two documents. reordered reports whether the common entries are in different orders.
func compareLists(before, after []json.RawMessage, behaviour func(tree.Value) tree.Value) (out []Difference, reordered bool) {
	old, oldByKey := elements(before, behaviour)
	list, byKey := elements(after, behaviour)
	for _, e := range list {
		was, there := oldByKey[e.key]
		if !there {
			out = append(out, difference(e.value, DifferenceAdded))
			continue
		}
		d := difference(e.value, DifferenceChanged)
		if d.compare("", was, e.value); len(d.Members) > 0 {
			slices.SortStableFunc(d.Members, func(a, b MemberDifference) int { return strings.Compare(a.Path, b.Path) })
			out = append(out, d)
		}
	}
	for _, e := range old {
		if _, there := byKey[e.key]; !there {
			out = append(out, difference(e.value, DifferenceRemoved))
		}
	}
	stayed := func(list []element, other map[string]tree.Value) (keys []string) {
		for _, e := range list {
			if _, there := other[e.key]; there {
				keys = append(keys, e.key)
			}
		}
		return keys
	}
	return out, !slices.Equal(stayed(old, byKey), stayed(list, oldByKey))
}

// difference returns a Difference with the id and the name of an entry.
func difference(v tree.Value, kind DifferenceKind) Difference {
	id, data := v.Get("id"), v.Get("data")
	name := data.Get("name")
	return Difference{ID: id.Text(), Name: name.Text(), Kind: kind}
}

// compare adds the differences between two values, which are at the given path in both documents. Lists of different lengths differ as a
// whole.
func (d *Difference) compare(path string, before, after tree.Value) {
	old, now := before.AppendCanonical(nil), after.AppendCanonical(nil)
	switch {
	case before.Kind == after.Kind && string(old) == string(now):
	case before.Kind == tree.Object && after.Kind == tree.Object:
		for _, name := range names(before, after) {
			d.compare(strings.TrimPrefix(path+"."+name, "."), before.Get(name), after.Get(name))
		}
	case before.Kind == tree.Array && after.Kind == tree.Array && len(before.Members) == len(after.Members):
		for i := range before.Members {
			d.compare(Entry(path, i), before.Members[i].Value, after.Members[i].Value)
		}
	default:
		d.Members = append(d.Members, MemberDifference{path, brief(before), brief(after)})
	}
}

// names returns the sorted names of the objects' members, each name once.
func names(objects ...tree.Value) []string {
	var all []string
	for _, o := range objects {
		for _, m := range o.Members {
			all = append(all, m.Name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// brief returns a value as JSON, cut after MaxDifference bytes, or "" if the value is absent.
func brief(v tree.Value) string {
	if v.Kind == tree.Absent {
		return ""
	}
	text := string(v.Append(nil))
	if len(text) <= MaxDifference {
		return text
	}
	end := MaxDifference
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
