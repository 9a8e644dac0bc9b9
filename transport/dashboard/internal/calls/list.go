package calls

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// pageSize is the number of calls on a page.
const pageSize = 50

// list is the page of all calls.
type list struct {
	Filter  filter
	Running []call.Call // on the first page without filters
	More    bool        // more are running than are shown
	Calls   []call.Call
	Next    string    // address of the next page; empty: this is the last
	Until   time.Time // the calls beyond this time were not looked at; zero: the page is full, or the last
	Order   page.Sort
}

// orderOf returns the link in the head of the column by which calls are sorted: it turns the order round.
func orderOf(r *page.Request, f call.Filter) page.Sort {
	if f.OldestFirst {
		return page.Sort{Query: r.With("ascending", ""), Aria: "ascending", Mark: "▲"}
	}
	return page.Sort{Query: r.With("ascending", "true"), Aria: "descending", Mark: "▼"}
}

// list shows running calls, and below them ended ones. With filters it shows the calls that match.
func (p pages) list(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	data := list{Filter: readFilter(r)}
	first := after.IsZero() && !data.Filter.Used
	if len(data.Filter.Faults) > 0 {
		return &page.View{Page: "list", Title: "Calls", Status: http.StatusUnprocessableEntity, Data: data}, nil
	}
	shown := []call.Filter{data.Filter.calls}
	if shown[0].After = after; !data.Filter.Used {
		shown[0].Completed = new(true)
	}
	if first {
		shown = append(shown, call.Filter{Completed: new(false)})
		running, err := p.find(ctx, r, shown[1])
		if err != nil {
			return nil, err
		}
		data.Running, data.More = running.Items, !running.Next.IsZero()
	}
	found, err := p.find(ctx, r, shown[0])
	if faults, ok := page.FaultsOf(err, nil); ok {
		data.Filter.Faults = faults
		return &page.View{Page: "list", Title: "Calls", Status: http.StatusUnprocessableEntity, Data: data}, nil
	}
	if err != nil {
		return nil, err
	}
	data.Order = orderOf(r, shown[0])
	data.Calls, data.Next = found.Items, r.Next(found.Next)
	if len(found.Items) < pageSize {
		data.Until = found.Next.At
	}
	view := &page.View{Page: "list", Title: "Calls", Data: data}
	switch {
	case first:
		view.Live = []string{"running", "ended"}
	case after.IsZero():
		view.Live = []string{"ended"}
	}
	view.Wait = page.Poll(fmt.Sprint(call.RevisionsOf(data.Calls), call.RevisionsOf(data.Running)), func(ctx context.Context) (string, error) {
		return p.revisions(ctx, r.Org(), shown)
	})
	return view, nil
}

// revisions reads the revisions of the calls that some filters find, as one text.
func (p pages) revisions(ctx context.Context, org callwright.OrgID, shown []call.Filter) (string, error) {
	var all [2][]call.Revision
	for i, f := range shown {
		var err error
		if all[i], err = p.cfg.Calls.Revisions(ctx, org, paged(f)); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(all[0], all[1]), nil
}
