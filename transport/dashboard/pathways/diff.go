package pathways

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/dashboard/page"
)

// maxChanges bounds the changed members that a page shows.
const maxChanges = 150

// change is a row of a comparison.
type change struct {
	What, ID, Name string
	Kind           graph.DifferenceKind
	Member         graph.MemberDifference // without a path: the whole node or edge
}

// comparison is the page of two versions.
type comparison struct {
	ID, From, To string
	Changes      []change
	Reordered    bool
	More         bool // there are changes that are not shown
}

func (p pages) diff(ctx context.Context, r *page.Request) (page.Answer, error) {
	c := comparison{ID: r.PathValue("id"), From: r.Query("from"), To: r.Query("to")}
	from, err := numberOf(c.From)
	if err != nil {
		return nil, callwright.Invalid("from", "must be the number of a version")
	}
	to, err := numberOf(c.To)
	if err != nil {
		return nil, callwright.Invalid("to", "must be the number of a version")
	}
	found, err := p.cfg.Pathways.Diff(ctx, r.Org(), c.ID, from, to)
	if err != nil {
		return nil, err
	}
	c.Reordered = found.Reordered
	c.add("Node", found.Nodes)
	c.add("Edge", found.Edges)
	return &page.View{Page: "diff", Title: "Differences", Data: c}, nil
}

// add adds the rows of differences.
func (c *comparison) add(what string, all []graph.Difference) {
	for _, d := range all {
		members := d.Members
		if len(members) == 0 {
			members = []graph.MemberDifference{{}}
		}
		for _, m := range members {
			if len(c.Changes) == maxChanges {
				c.More = true
				return
			}
			c.Changes = append(c.Changes, change{what, d.ID, d.Name, d.Kind, m})
		}
	}
}
