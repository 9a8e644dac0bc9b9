package settings

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/page"
)

// deliveries is the page of messages that webhooks have not taken at the first attempt.
type deliveries struct {
	menu

	Deliveries []delivery
	Next       string
	State      callwright.DeliveryState // those that are shown; empty: all
	Days       int                      // for which they are kept
}

// delivery is a message with what it is about.
type delivery struct {
	callwright.Delivery

	What string // such as "Record of call"
	Path string // of its page; empty: there is none
}

// subjects are what messages are about, with the paths below which their pages are.
var subjects = map[callwright.MessageKind][2]string{
	callwright.MessageCall:      {"Record of the call", "/calls"},
	callwright.MessageCallEvent: {"Event of the call", "/calls"},
	callwright.MessageTestRun:   {"End of the test run", "/tests/runs"},
	callwright.MessageTestBatch: {"End of the tests", "/tests/groups"},
	callwright.MessagePort:      {"Change of the port", "/ports"},
	callwright.MessageAlert:     {"Alert of the trunk", "/trunks"},
}

func deliveryOf(d callwright.Delivery) delivery {
	about, known := subjects[d.Kind]
	if !known || d.Subject == "" {
		return delivery{Delivery: d, What: string(d.Kind)}
	}
	return delivery{d, about[0], page.Path(about[1], d.Subject)}
}

// Badge returns the badge of the state.
func (d delivery) Badge() [2]string {
	switch d.State {
	case callwright.DeliveryDelivered:
		return [2]string{"good", "delivered"}
	case callwright.DeliveryGivenUp:
		return [2]string{"bad", "given up"}
	case callwright.DeliveryPending:
	}
	return [2]string{"busy", "pending"}
}

func (p pages) deliveries(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	data := deliveries{menu: p.menu(r), State: callwright.DeliveryState(r.Query("state")), Days: int(callwright.KeepDeliveries / day)}
	found, err := p.cfg.Deliveries.List(ctx, r.Org(), data.State, after, pageSize)
	if err != nil {
		return nil, err
	}
	for _, d := range found.Items {
		data.Deliveries = append(data.Deliveries, deliveryOf(d))
	}
	data.Next = r.Next(found.Next)
	return &page.View{Page: "deliveries", Title: "Deliveries", Data: data}, nil
}
