package tornado

import (
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// These constants limit, in bytes, the stored form of an iteration, which people read. The Fixer reads rejected plans from the journal,
// without these limits.
const (
	maxShownText    = 1 << 10  // text of each edit
	maxShownChanges = 32 << 10 // values of all differences together
	maxShownReason  = 1000
)

// shown returns a copy of the progress with texts clipped to these limits. It does not change p.
func (p Progress) shown() Progress {
	p.Iterations = slices.Clone(p.Iterations)
	for i := range p.Iterations {
		it := &p.Iterations[i]
		it.Reason = callwright.Clip(it.Reason, maxShownReason)
		if it.Plan != nil {
			it.Plan = it.Plan.shown()
		}
		if it.Changes != nil {
			it.Changes = shownChanges(*it.Changes)
		}
	}
	return p
}

func (p Plan) shown() *Plan {
	p.Fixes = slices.Clone(p.Fixes)
	for i := range p.Fixes {
		f := &p.Fixes[i]
		f.Edits = slices.Clone(f.Edits)
		for k := range f.Edits {
			f.Edits[k].Text = callwright.Clip(f.Edits[k].Text, maxShownText)
		}
	}
	return &p
}

// shownChanges clips all values to the same length if they exceed maxShownChanges together. It halves graph.MaxDifference until the values
// fit.
func shownChanges(c graph.Changes) *graph.Changes {
	most := graph.MaxDifference
	for ; changesSize(c, most) > maxShownChanges; most /= 2 {
	}
	cut := func(list []graph.Difference) []graph.Difference {
		list = slices.Clone(list)
		for i := range list {
			list[i].Members = slices.Clone(list[i].Members)
			for k := range list[i].Members {
				m := &list[i].Members[k]
				m.Before, m.After = callwright.Clip(m.Before, most), callwright.Clip(m.After, most)
			}
		}
		return list
	}
	if most < graph.MaxDifference {
		c.Nodes, c.Edges = cut(c.Nodes), cut(c.Edges)
	}
	return &c
}

// changesSize returns the total size of the values in bytes if each value is truncated to the limit most.
func changesSize(c graph.Changes, most int) (n int) {
	for _, list := range [][]graph.Difference{c.Nodes, c.Edges} {
		for _, d := range list {
			for _, m := range d.Members {
				n += min(len(m.Before), most) + min(len(m.After), most)
			}
		}
	}
	return n
}
