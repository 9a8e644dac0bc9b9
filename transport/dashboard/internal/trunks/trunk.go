package trunks

import (
	"cmp"
	"context"
	"html/template"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// trunk holds the data of a number's page.
type trunk struct {
	Number     string
	Health     sip.NumberHealth
	Uptimes    []period
	Hours      template.HTML // picture of the last 24 hours, or empty if unknown
	Days       template.HTML // picture of the last 30 days, or empty if unknown
	Responses  template.HTML // picture of the last response times, or empty without any
	Alerts     []raised
	Told       callwright.Page[sip.Delivery] // newest deliveries of alerts
	Directions []direction
	Failover   *failover.Config
	Outbound   bool
	Calls      []calllog.Record
	Untested   bool   // the whole log is on this page and contains no answered outbound call
	Next       string // address of the next page of the log
	Now        time.Time
}

// period is the uptime, in percent, of a named period. A nil Percent means that it is unknown.
type period struct {
	Name    string
	Percent *float64
}

// raised is an alert of a direction with its state.
type raised struct {
	Direction sip.Direction
	Kind      alert.Kind
	alert.State
}

// direction holds the shown data of a trunk, without its secrets.
type direction struct {
	sip.Trunk
	Codecs    sip.CodecConfig
	AuthMode  sip.AuthMode
	Verify    sip.TLSVerification
	Digest    bool
	Transfers sip.TransferPolicy
	DTMF      sip.DTMFMode
	DTMFModes []sip.DTMFMode
	Redirects sip.RedirectPolicy
	Policies  []sip.RedirectPolicy // choices for Redirects
	Told      []string             // receivers of alerts
}

// shownDeliveries is the maximum number of alert deliveries on a number's page. A separate page lists all.
const shownDeliveries = 5

// deliveries holds the data of the page that lists the deliveries of a number's alerts.
type deliveries struct {
	Number string
	Told   []sip.Delivery
	Next   string // address of the next page, or empty on the last
}

// deliveries shows a page of the deliveries of a number's alerts.
func (p pages) deliveries(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	told, err := p.cfg.Trunks.DeliveriesPage(ctx, r.Org(), n.String(), after, pageSize)
	data := deliveries{n.String(), told.Items, r.Next(told.Next)}
	return &page.View{Page: "told", Title: "Who was told of alerts of " + n.String(), Data: data, Live: []string{"told"}, Every: refresh}, err
}

// refresh is the interval of live updates of a number's page.
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
	log, err := p.cfg.CallLog.List(ctx, r.Org(), n.String(), after.ID, pageSize)
	if err != nil {
		return nil, err
	}
	told, err := p.cfg.Trunks.DeliveriesPage(ctx, r.Org(), n.String(), callwright.Keyset{}, shownDeliveries)
	if err != nil {
		return nil, err
	}
	data := trunk{
		Number: n.String(), Health: h, Uptimes: uptimes(h.History, p.now()), Days: days(h.History, p.now()),
		Hours: LastDay("hours", "Health of the last day", h.History.Hours, p.now()), Responses: responses(h.History),
		Alerts: alertsOf(h), Told: told, Calls: log.Items, Next: r.Next(log.Next), Now: p.now(),
	}
	for _, t := range []*sip.Trunk{record.Outbound, record.Inbound} {
		if t != nil {
			data.Directions = append(data.Directions, p.directionOf(*t))
		}
	}
	if record.Outbound != nil {
		answered := func(r calllog.Record) bool { return r.AnsweredAt != nil && r.Direction == sip.Outbound }
		data.Outbound, data.Failover = true, record.Outbound.Failover
		data.Untested = after.IsZero() && len(log.Items) < pageSize && !slices.ContainsFunc(log.Items, answered)
	}
	return &page.View{Page: "trunk", Title: "Trunk " + n.String(), Data: data, Live: []string{"health", "log"}, Every: refresh}, nil
}

// directionOf returns the shown data of a trunk. It omits the passwords and headers.
func (p pages) directionOf(t sip.Trunk) direction {
	d := direction{
		Trunk: t, Codecs: p.cfg.Trunks.CodecsOf(t), AuthMode: cmp.Or(t.Options.AuthMode, sip.AuthIP),
		Verify: cmp.Or(t.Options.Verify, sip.VerifyFull), Digest: t.Options.Call.Username != "",
		Transfers: cmp.Or(t.Options.Transfers, sip.TransferOrganization),
		DTMF:      cmp.Or(t.Options.DTMF, sip.DTMFEvents), DTMFModes: dtmfModes,
		Redirects: cmp.Or(t.Options.Redirects, sip.RedirectOff), Policies: redirectPolicies,
	}
	d.Options, d.Headers = sip.Options{AllowedIPs: t.Options.AllowedIPs}, nil
	if t.Alerts != nil && t.Alerts.Enabled {
		d.Told = told(t.Alerts.Channels)
	}
	d.Alerts = nil
	return d
}

// told describes the channels through which alerts are sent.
func told(c alert.Channels) (ways []string) {
	if c.Email {
		ways = append(ways, "the organization's contact, by e-mail")
	}
	if c.SMS {
		ways = append(ways, "the organization's contacts, by SMS")
	}
	if host := c.WebhookHost(); host != "" {
		ways = append(ways, "the webhook at "+host)
	}
	return ways
}

// alertsOf returns all alerts that were ever triggered, newest first.
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
