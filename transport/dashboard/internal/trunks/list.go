package trunks

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// list holds the data of the page that lists all numbers with a trunk.
type list struct {
	Numbers []sip.AttachedNumber
	Query   string // the searched number
	Faults  page.Faults
	Under   []choice // set-ups under way, only on the first page
	First   bool     // this is the first page
	Next    string   // address of the next page, or empty on the last
}

// pageSize is the maximum number of rows on a page.
const pageSize = 50

// refreshList is the interval of live updates of the list. Trunks are probed about once a minute.
const refreshList = 10 * time.Second

// list shows a page of numbers. If the query names an attached number, it redirects to the number's page.
func (p pages) list(ctx context.Context, r *page.Request) (page.Answer, error) {
	v := &page.View{Page: "list", Title: "Trunks", Live: []string{"numbers"}, Every: refreshList}
	data := list{Query: r.Query("number")}
	if data.Query != "" {
		number, err := p.cfg.Trunks.Number(ctx, r.Org(), callwright.TypedNumber(data.Query))
		var record sip.Record
		if err == nil {
			record, err = p.cfg.Trunks.Get(ctx, r.Org(), number.String())
		}
		switch {
		case callwright.CodeOf(err) == callwright.CodeBadRequest:
			data.Faults = page.Faults{"number": callwright.MessageOf(err)}
		case err != nil:
			return nil, err
		case record == (sip.Record{}):
			data.Faults = page.Faults{"number": "no trunk has this number: the list shows the numbers of all trunks"}
		default:
			return page.SeeOther{To: toTrunk(number.String())}, nil
		}
		v.Live = nil
	}
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	found, err := p.cfg.Trunks.NumbersPage(ctx, r.Org(), after, pageSize)
	if err != nil {
		return nil, err
	}
	data.Numbers, data.Next, data.First = found.Items, r.Next(found.Next), after.IsZero()
	if data.First {
		if data.Under, err = p.under(ctx, r); err != nil {
			return nil, err
		}
	}
	v.Data = data
	return v, nil
}
