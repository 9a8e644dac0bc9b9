package trunks

import (
	"context"
	"net/http"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/uri"
	"github.com/callwright/callwright/transport/dashboard/page"
)

// title is that of every step of a set-up.
const title = "Set up a trunk"

// steps are the steps of a set-up.
var steps = []string{"Direction", "Destination", "Discovery", "Firewall", "Authentication", "Numbers", "Test call", "Complete"}

// direction is the first step.
func (p pages) direction(context.Context, *page.Request) (page.Answer, error) {
	return &page.View{Page: "direction", Title: title}, nil
}

// destinationForm is the step that asks where the customer's server is.
type destinationForm struct {
	Choice choice
	Input  string
	Faults page.Faults
}

func (p pages) destination(_ context.Context, r *page.Request) (page.Answer, error) {
	c, err := choiceOf(r)
	if err != nil {
		return nil, err
	}
	if !c.Outbound() {
		return page.SeeOther{To: "/trunks/new"}, nil
	}
	return &page.View{Page: "destination", Title: title, Data: destinationForm{Choice: c, Input: c.Endpoint}}, nil
}

// look checks a destination and looks for SIP servers there, unless the form asks for none.
func (p pages) look(ctx context.Context, r *page.Request) (page.Answer, error) {
	c, err := choiceOf(r)
	if err != nil {
		return nil, err
	}
	form := destinationForm{Choice: c, Input: callwright.Clip(r.Field("destination"), 300)}
	found, err := p.begin(ctx, r, &c)
	if err == nil {
		if c.Discovery = found; found == "" {
			return page.SeeOther{To: c.Skip()}, nil
		}
		return page.SeeOther{To: c.To("discovery")}, nil
	}
	faults, mend := page.FaultsOf(err, map[string]string{"input": "destination", "sip_endpoint": "destination", "host": "destination"})
	if callwright.CodeOf(err) == callwright.CodeDiscoveryInProgress {
		faults, mend = page.Faults{"destination": callwright.MessageOf(err)}, true
	}
	if !mend {
		return nil, err
	}
	form.Faults = faults
	return &page.View{Page: "destination", Title: title, Status: http.StatusUnprocessableEntity, Data: form}, nil
}

// begin takes the destination of a form and begins a discovery. It returns its id; empty: the form asks for none.
func (p pages) begin(ctx context.Context, r *page.Request, c *choice) (id string, err error) {
	to, err := uri.ParseDestination(r.Field("destination"))
	if err != nil {
		return "", err
	}
	if err := p.cfg.Trunks.CheckEndpoint(to.Normalized); err != nil {
		return "", err
	}
	c.Endpoint = overTLS(to)
	if r.Field("skip") != "" {
		return "", nil
	}
	d, err := p.cfg.Discoveries.Start(ctx, r.Org(), discovery.Request{Host: to.Host, Port: to.Port, Transport: to.Transport})
	return d.ID, err
}

// discoveryStep is the step that shows what listens at the destination.
type discoveryStep struct {
	Choice choice
	Found  discovery.Discovery
	Lost   bool // the result is not kept any more
	TLS    bool // the recommended server takes TLS
}

func (p pages) discovery(ctx context.Context, r *page.Request) (page.Answer, error) {
	c, err := choiceOf(r)
	if err != nil {
		return nil, err
	}
	v := &page.View{Page: "discovery", Title: title}
	found, err := p.cfg.Discoveries.Get(ctx, r.Org(), c.Discovery)
	switch {
	case callwright.CodeOf(err) == callwright.CodeNotFound: // a set-up that is taken up again may be older than the result
		v.Status, v.Data = http.StatusNotFound, discoveryStep{Choice: c, Lost: true}
		return v, nil
	case err != nil:
		return nil, err
	}
	step := discoveryStep{Choice: c, Found: found}
	step.TLS = found.Recommended != nil && found.Recommended.Transport == uri.TLS
	if found.Status == discovery.Running {
		v.Live = []string{"discovery"}
	}
	v.Data = step
	return v, nil
}

// firewallStep is the step that shows what firewalls must let through.
type firewallStep struct {
	Choice choice
	Region setup.Region
	Calls  *setup.Outbound // how calls come here; nil: they do not, or the region has no server for them
}

func (p pages) firewall(ctx context.Context, r *page.Request) (page.Answer, error) {
	c, err := choiceOf(r)
	if err != nil {
		return nil, err
	}
	step := firewallStep{Choice: c}
	if step.Region, err = p.cfg.Setup.Firewall(ctx, r.Org()); err != nil {
		return nil, err
	}
	if c.Inbound() {
		out, err := p.cfg.Setup.OutboundSetup(ctx, r.Org(), "")
		switch {
		case err == nil:
			step.Calls = &out
		case callwright.CodeOf(err) != callwright.CodeUnavailable:
			return nil, err
		}
	}
	return &page.View{Page: "firewall", Title: title, Data: step}, nil
}

// authentication is the step that asks how the two sides know each other.
func (p pages) authentication(_ context.Context, r *page.Request) (page.Answer, error) {
	c, err := choiceOf(r)
	if err != nil {
		return nil, err
	}
	if c.Direction == "" {
		return page.SeeOther{To: "/trunks/new"}, nil
	}
	return &page.View{Page: "authentication", Title: title, Data: c}, nil
}
