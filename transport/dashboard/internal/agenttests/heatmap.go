package agenttests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/stats"
	"github.com/callwright/callwright/transport/dashboard/internal/drawing"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// heatmap shows in which nodes runs fail: in the drawing of the pathway, and in a table.
type heatmap struct {
	drawing.Picture

	Version int // the drawn version; 0 means the draft
	Absent  int // number of nodes with runs that the drawing lacks
	Heads   []head
	Rows    []heatRow
	Part    part
}

// head is the header of a column in the table.
type head struct {
	Title  string
	Number bool
	Sort   page.Sort
}

// heatRow is a row of the table: a node and its failures.
type heatRow struct {
	analytics.NodeFailures

	Interval *stats.Interval // confidence interval of the share of failures
}

// orders lists the columns by which the table can be sorted. compare orders a before b if a is smaller.
var orders = []struct {
	name, title string
	compare     func(a, b analytics.NodeFailures) int
}{
	{"node", "Node", func(a, b analytics.NodeFailures) int { return cmp.Compare(a.Name, b.Name) }},
	{"visits", "Scored runs that reached it", func(a, b analytics.NodeFailures) int { return cmp.Compare(a.Visits, b.Visits) }},
	{"failed", "Failed there", func(a, b analytics.NodeFailures) int { return cmp.Compare(a.Failed, b.Failed) }},
	{"share", "Share", func(a, b analytics.NodeFailures) int { return cmp.Compare(a.Rate(), b.Rate()) }},
}

// heatmap draws the failures of nodes over a version of a pathway, or over its draft if number is 0. It returns only the table if nodes is
// empty, Config.Pathways is nil, or the version no longer exists.
func (p pages) heatmap(ctx context.Context, r *page.Request, pathway string, number int, nodes []analytics.NodeFailures) (h heatmap, err error) {
	h.Version = number
	if err := h.list(r, nodes); err != nil {
		return h, err
	}
	if p.cfg.Pathways == nil || len(nodes) == 0 {
		return h, nil
	}
	v, _, err := p.cfg.Pathways.Version(ctx, r.Org(), pathway, number)
	if errors.Is(err, callwright.ErrNotFound) { // the version was discarded, so there is only the table
		return h, nil
	}
	if err != nil {
		return h, err
	}
	found := make(map[string]analytics.NodeFailures, len(nodes))
	for _, n := range nodes {
		found[n.Node] = n
	}
	h.Absent = len(nodes)
	g := drawing.Graph(v.Document)
	g.ID, g.Title = "heat", "Where runs fail"
	for i := range g.Nodes {
		n := &g.Nodes[i]
		at, visited := found[n.ID]
		if n.Note = "not visited"; visited {
			h.Absent--
			n.Note, n.Shade = fmt.Sprintf("%d of %d failed", at.Failed, at.Visits), at.Rate()
		}
		n.Href = r.Below(page.Path("/pathways", pathway, "versions", strconv.Itoa(number))) + "?node=" + url.QueryEscape(n.ID) + "#node"
	}
	h.Picture = drawing.Draw(r, g, r.Below("/tests/analytics"))
	return h, nil
}

// list sets the rows of the table, sorted as the query requests. An unknown column causes CodeBadRequest.
func (h *heatmap) list(r *page.Request, nodes []analytics.NodeFailures) (err error) {
	by, ascending := cmp.Or(r.Query("sort"), "failed"), r.Query("order") == "asc"
	sorted := slices.Clone(nodes)
	known := false
	for _, o := range orders {
		if h.Heads = append(h.Heads, head{o.title, o.name != "node", r.Sort(o.name, o.name == by, ascending)}); o.name != by {
			continue
		}
		known = true
		slices.SortStableFunc(sorted, func(a, b analytics.NodeFailures) int {
			if ascending {
				return o.compare(a, b)
			}
			return o.compare(b, a)
		})
	}
	if !known {
		return callwright.Invalid("sort", "must be node, visits, failed or share")
	}
	if h.Part, err = partOf(r, "", "Nodes", "nodes", "failures", len(sorted), maxRows); err != nil {
		return err
	}
	for _, n := range sorted[h.Part.From:h.Part.To] {
		h.Rows = append(h.Rows, heatRow{n, stats.Wilson(n.Failed, n.Visits)})
	}
	return nil
}
