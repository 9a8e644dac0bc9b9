package trunks

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/transport/dashboard/chart"
	"github.com/callwright/callwright/transport/dashboard/page"
)

// trunk is the page of a number.
type trunk struct {
	Number     string
	Health     sip.NumberHealth
	Uptimes    []period
	Days       template.HTML // the last 30 days; empty: nothing is known
	Responses  template.HTML // the last response times; empty: none
	Alerts     []raised
	Directions []direction
	Failover   *failover.Config
	Outbound   bool
	Calls      []calllog.Record
	Untested   bool   // the log begins here and holds no answered call
	Next       string // address of the next page of the log
	Now        time.Time
}

// period is the uptime of some days.
type period struct {
	Name    string
	Percent *float64
}

// raised is the state of an alert.
type raised struct {
	Direction sip.Direction
	Kind      alert.Kind
	alert.State
}

// direction is a trunk, without its secrets.
type direction struct {
	sip.Trunk
	Codecs    sip.CodecConfig
	AuthMode  sip.AuthMode
	Verify    sip.TLSVerification
	Digest    bool
	Transfers sip.TransferPolicy
	Told      []string // who is told of alerts
}

// refresh is the time between two looks at the log of calls and the health.
const refresh = 30 * time.Second

func (p pages) trunk(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	h, err := p.cfg.Trunks.Health(ctx, r.Org(), n.String())
	if err != nil {
		return nil, err
	}
	record, err := p.cfg.Trunks.Get(ctx, r.Org(), n.String())
	if err != nil {
		return nil, err
	}
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	log, err := p.cfg.Calls.List(ctx, r.Org(), n.String(), after.ID, pageSize)
	if err != nil {
		return nil, err
	}
	data := trunk{
		Number: n.String(), Health: h, Uptimes: uptimes(h.History, p.now()), Days: days(h.History, p.now()), Responses: responses(h.History),
		Alerts: alertsOf(h), Calls: log.Items, Next: r.Next(log.Next), Now: p.now(),
	}
	for _, t := range []*sip.Trunk{record.Outbound, record.Inbound} {
		if t != nil {
			data.Directions = append(data.Directions, p.directionOf(*t))
		}
	}
	if record.Outbound != nil {
		answered := func(r calllog.Record) bool { return r.AnsweredAt != nil }
		data.Outbound, data.Failover = true, record.Outbound.Failover
		data.Untested = after.IsZero() && len(log.Items) < pageSize && !slices.ContainsFunc(log.Items, answered)
	}
	return &page.View{Page: "trunk", Title: "Trunk " + n.String(), Data: data, Live: []string{"health", "log"}, Every: refresh}, nil
}

// directionOf returns what is shown of a trunk.
func (p pages) directionOf(t sip.Trunk) direction {
	d := direction{
		Trunk: t, Codecs: p.cfg.Trunks.CodecsOf(t), AuthMode: cmp.Or(t.Options.AuthMode, sip.AuthIP),
		Verify: cmp.Or(t.Options.Verify, sip.VerifyFull), Digest: t.Options.Call.Username != "",
		Transfers: cmp.Or(t.Options.Transfers, sip.TransferOrganization),
	}
	d.Options, d.Headers = sip.Options{AllowedIPs: t.Options.AllowedIPs}, nil
	if t.Alerts != nil && t.Alerts.Enabled {
		d.Told = told(t.Alerts.Channels)
	}
	d.Alerts = nil
	return d
}

// told says who is told of alerts. The query of a webhook's address may be a key and is left out.
func told(c alert.Channels) (ways []string) {
	if c.Email {
		ways = append(ways, "the organization's contact, by e-mail")
	}
	if c.SMS {
		ways = append(ways, "the organization's contacts, by SMS")
	}
	if to, err := url.Parse(c.Webhook); err == nil && to.Host != "" {
		ways = append(ways, "the webhook at "+to.Host)
	}
	return ways
}

// alertsOf returns the alerts that were ever raised, the newest first.
func alertsOf(h sip.NumberHealth) []raised {
	var all []raised
	for d, states := range h.Alerts {
		for kind, state := range states {
			if !state.TriggeredAt.IsZero() {
				all = append(all, raised{d, kind, state})
			}
		}
	}
	slices.SortFunc(all, func(a, b raised) int {
		return cmp.Or(b.TriggeredAt.Compare(a.TriggeredAt), cmp.Compare(a.Direction, b.Direction), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

const day = 24 * time.Hour

// uptimes returns the uptime of the last days. The history counts whole days of UTC.
func uptimes(h health.History, now time.Time) []period {
	today := now.UTC().Truncate(day)
	var all []period
	for _, p := range []struct {
		name string
		days int
	}{{"24 h", 2}, {"7 d", 7}, {"30 d", health.MaxDays}} {
		shown := period{Name: p.name}
		if percent, ok := h.UptimeSince(today.Add(-time.Duration(p.days-1) * day)); ok {
			shown.Percent = &percent
		}
		all = append(all, shown)
	}
	return all
}

// The share of a day's uptime below which a cell warns.
const nearlyUp = 0.99

// days draws the days of a history.
func days(h health.History, now time.Time) template.HTML {
	if len(h.Days) == 0 {
		return ""
	}
	first := now.UTC().Truncate(day).Add(-(health.MaxDays - 1) * day)
	cells := make([]chart.Cell, health.MaxDays)
	for _, d := range h.Days {
		i := int(d.Date.Sub(first) / day)
		known := d.Up + d.Down
		if i < 0 || i >= len(cells) || known == 0 {
			continue
		}
		share := float64(d.Up) / float64(known)
		cells[i] = chart.Cell{State: chart.Good, Note: fmt.Sprintf("up for %.2f %%", 100*share)}
		switch {
		case d.Up == 0:
			cells[i].State = chart.Bad
		case share < nearlyUp:
			cells[i].State = chart.Warn
		}
	}
	return chart.Strip{ID: "days", Title: "Health of the last 30 days", Start: first, Step: day, Cells: cells}.SVG()
}

// responses draws the last response times.
func responses(h health.History) template.HTML {
	if len(h.Samples) == 0 {
		return ""
	}
	var values []float64
	for _, s := range h.Samples {
		values = append(values, float64(s)/float64(time.Millisecond))
	}
	title := "Response times of the last " + strconv.Itoa(len(values)) + " answered probes"
	return chart.Sparkline{ID: "responses", Title: title, Unit: "ms", Values: values}.SVG()
}
