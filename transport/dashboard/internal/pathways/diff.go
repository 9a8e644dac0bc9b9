package pathways

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/drawing"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// maxChanges is the maximum number of changed members that a comparison shows.
const maxChanges = 150

// comparison holds the data of the page that compares two versions.
type comparison struct {
	ID, From, To string
	Changes      drawing.Changes
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
	c.Changes = drawing.Compare(found, maxChanges, "Differences")
	return &page.View{Page: "diff", Title: "Differences", Data: c}, nil
}
