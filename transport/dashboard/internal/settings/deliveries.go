package settings

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// deliveries holds the data of the page of webhook messages whose first attempt failed.
type deliveries struct {
	menu

	Paused     []delivery.Endpoint
	Deliveries []shownDelivery
	Next       string
	State      delivery.State // state of the shown deliveries, or empty for all
	Days       int            // retention of deliveries
}

// shownDelivery is a delivery with a description of its subject and a link to it.
type shownDelivery struct {
	delivery.Delivery

	What string // such as "Record of call"
	Path string // path of the subject's page, or empty without a link
}

// subject describes the object, such as a call, that the messages of one kind concern.
type subject struct {
	what string
	area string // path of the area that shows the subject
	path string // path of the subject's page, without the id
}

var subjects = map[delivery.MessageKind]subject{
	delivery.MessageCall:      {"Record of the call", "/calls", "/calls"},
	delivery.MessageCallEvent: {"Event of the call", "/calls", "/calls"},
	delivery.MessageTestRun:   {"End of the test run", "/tests", "/tests/runs"},
	delivery.MessageTestBatch: {"End of the tests", "/tests", "/tests/groups"},
	delivery.MessagePort:      {"Change of the port", "/ports", "/ports"},
	delivery.MessageAlert:     {"Alert of the trunk", "/trunks", "/trunks"},
}

// deliveryOf describes the subject of a delivery, or names only the kind of message if the subject is unknown. It links to the subject's
// page if the dashboard contains the subject's area and the reader may open that area.
func (p pages) deliveryOf(d delivery.Delivery, reader callwright.Principal) shownDelivery {
	about, known := subjects[d.Kind]
	if !known || d.Subject == "" {
		return shownDelivery{Delivery: d, What: string(d.Kind)}
	}
	shown := shownDelivery{Delivery: d, What: about.what}
	for _, a := range p.cfg.Areas {
		if a.Path == about.area && (a.Entitlement == "" || reader.Entitled(a.Entitlement)) {
			shown.Path = page.Path(about.path, d.Subject)
		}
	}
	return shown
}

// Badge returns the style and the text of the state's badge.
func (d shownDelivery) Badge() [2]string {
	switch d.State {
	case delivery.Delivered:
		return [2]string{"good", "delivered"}
	case delivery.GivenUp:
		return [2]string{"bad", "given up"}
	case delivery.Pending:
	}
	return [2]string{"busy", "pending"}
}

func (p pages) deliveries(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	data := deliveries{menu: p.menu(r), State: delivery.State(r.Query("state")), Days: int(delivery.Retention / day)}
	found, err := p.cfg.Deliveries.List(ctx, r.Org(), data.State, after, pageSize)
	if err != nil {
		return nil, err
	}
	if data.Paused, err = p.cfg.Deliveries.Paused(ctx, r.Org()); err != nil {
		return nil, err
	}
	for _, d := range found.Items {
		data.Deliveries = append(data.Deliveries, p.deliveryOf(d, r.Principal))
	}
	data.Next = r.Next(found.Next)
	return &page.View{Page: "deliveries", Title: "Deliveries", Data: data}, nil
}

// resume ends the pause of messages to a host.
func (p pages) resume(ctx context.Context, r *page.Request) (page.Answer, error) {
	host := r.Field("host")
	if err := p.cfg.Deliveries.Resume(ctx, r.Org(), host); err != nil {
		return nil, err
	}
	return page.SeeOther{To: "/settings/deliveries", Notice: "Messages to " + host + " go on within 25 minutes."}, nil
}
