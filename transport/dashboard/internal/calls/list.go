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

// pageSize is the maximum number of calls on a page.
const pageSize = 50

// list contains the data of the page that lists calls.
type list struct {
	Filter  filter
	Running []call.Call // set on the first page without filters
	More    bool        // more calls are running than Running contains
	Calls   []call.Call
	Next    string    // path of the next page; empty on the last page
	Until   time.Time // where the search stopped; zero if the page is full or is the last page
	Order   page.Sort
}

// orderOf returns the link in the header of the column by which calls are sorted. The link reverses the order.
func orderOf(r *page.Request, f call.Filter) page.Sort {
	if f.OldestFirst {
		return page.Sort{Query: r.With("ascending", ""), Aria: "ascending", Mark: "▲"}
	}
	return page.Sort{Query: r.With("ascending", "true"), Aria: "descending", Mark: "▼"}
}

// list shows the ended calls and, on the first page, the running calls above them. With filters it shows all calls that match, whether
// running or ended.
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

// revisions returns the revisions of the calls that match the filters, as one text that changes with them.
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
