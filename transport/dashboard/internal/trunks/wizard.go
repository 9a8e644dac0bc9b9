package trunks

import (
	"context"
	"net/http"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/uri"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// title is the page title of every set-up step.
const title = "Set up a trunk"

// stepNames lists the steps of a set-up in order. Steps without a setup.Step are not stored in drafts: Direction precedes the draft, and
// the last two follow it.
var stepNames = []struct {
	step setup.Step
	name string
}{
	{"", "Direction"}, {setup.StepDestination, "Destination"}, {setup.StepDiscovery, "Discovery"}, {setup.StepFirewall, "Firewall"},
	{setup.StepAuthentication, "Authentication"}, {setup.StepNumbers, "Numbers"}, {"", "Test call"}, {"", "Complete"},
}

// step is a step of a set-up with its progress, as the pages show it.
type step struct {
	Name      string
	Now, Done bool
}

// steps returns the steps of a set-up with the given current step. It omits the steps for outbound calls unless outbound is set, and the
// discovery unless looked is set too.
func steps(now string, outbound, looked bool) (all []step) {
	done := true
	for _, s := range stepNames {
		switch {
		case (s.step == setup.StepDestination || s.name == "Test call") && !outbound, s.step == setup.StepDiscovery && !(outbound && looked):
			continue
		case s.name == now:
			done = false
		}
		all = append(all, step{s.name, s.name == now, done})
	}
	return all
}

// directionStep holds the data of the first step, which asks for the directions of calls.
type directionStep struct {
	Under  []choice // set-ups under way
	Faults page.Faults
}

func (p pages) direction(ctx context.Context, r *page.Request) (page.Answer, error) {
	under, err := p.under(ctx, r)
	return &page.View{Page: "direction", Title: title, Data: directionStep{Under: under}}, err
}

// under returns the organization's set-ups that are not finished.
func (p pages) under(ctx context.Context, r *page.Request) (all []choice, err error) {
	drafts, err := p.cfg.Setup.Drafts(ctx, r.Org())
	for _, d := range drafts {
		all = append(all, choice{d})
	}
	return all, err
}

// begin starts a set-up with the chosen directions, and redirects to its first step. If the directions are invalid, begin shows the form
// again.
func (p pages) begin(ctx context.Context, r *page.Request) (page.Answer, error) {
	d, err := p.cfg.Setup.Begin(ctx, r.Org(), setup.Directions(r.Field("direction")))
	if err == nil {
		return page.SeeOther{To: choice{d}.Here()}, nil
	}
	faults, mend := page.FaultsOf(err, map[string]string{"direction": ""})
	if !mend {
		return nil, err
	}
	under, err := p.under(ctx, r)
	data := directionStep{Under: under, Faults: faults}
	return &page.View{Page: "direction", Title: title, Status: http.StatusUnprocessableEntity, Data: data}, err
}

// discard deletes the draft of a set-up.
func (p pages) discard(ctx context.Context, r *page.Request) (page.Answer, error) {
	err := p.cfg.Setup.Discard(ctx, r.Org(), r.Field("setup"))
	return page.SeeOther{To: "/trunks", Notice: "The set-up is discarded."}, err
}

// destinationForm holds the data of the step that asks for the address of the customer's server.
type destinationForm struct {
	Choice choice
	Input  string
	Faults page.Faults
}

func (p pages) destination(ctx context.Context, r *page.Request) (page.Answer, error) {
	c, err := p.choiceOf(ctx, r)
	if err != nil {
		return nil, err
	}
	if !c.Outbound() {
		return page.SeeOther{To: c.Here()}, nil
	}
	return &page.View{Page: "destination", Title: title, Data: destinationForm{Choice: c, Input: c.Endpoint}}, nil
}

// look checks the destination and starts a discovery of SIP servers there, unless the user skips it.
func (p pages) look(ctx context.Context, r *page.Request) (page.Answer, error) {
	c, err := p.choiceOf(ctx, r)
	if err != nil {
		return nil, err
	}
	form := destinationForm{Choice: c, Input: callwright.Clip(r.Field("destination"), 300)}
	c.Endpoint, c.Discovery, err = p.discover(ctx, r)
	switch {
	case err == nil && c.Discovery == "":
		return p.store(ctx, c, setup.StepFirewall)
	case err == nil:
		return p.store(ctx, c, setup.StepDiscovery)
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

// discover parses the destination of the form and starts a discovery. It returns the endpoint and the discovery's id, or an empty id if the
// user skips the discovery.
func (p pages) discover(ctx context.Context, r *page.Request) (endpoint, id string, err error) {
	to, err := uri.ParseDestination(r.Field("destination"))
	if err != nil {
		return "", "", err
	}
	if err := p.cfg.Trunks.CheckEndpoint(to.Normalized); err != nil {
		return "", "", err
	}
	if r.Field("skip") != "" {
		return overTLS(to), "", nil
	}
	d, err := p.cfg.Discoveries.Start(ctx, r.Org(), discovery.Request{Host: to.Host, Port: to.Port, Transport: to.Transport, Fresh: true})
	return overTLS(to), d.ID, err
}

// discoveryStep holds the data of the step that shows the servers found at the destination.
type discoveryStep struct {
	Choice choice
	Found  discovery.Discovery
	Lost   bool // the result is no longer stored
	TLS    bool // the recommended server supports TLS
}

func (p pages) discovery(ctx context.Context, r *page.Request) (page.Answer, error) {
	c, err := p.choiceOf(ctx, r)
	if err != nil {
		return nil, err
	}
	v := &page.View{Page: "discovery", Title: title}
	found, err := p.cfg.Discoveries.Get(ctx, r.Org(), c.Discovery)
	switch {
	case callwright.CodeOf(err) == callwright.CodeNotFound: // a resumed set-up may be older than the retention of results
		v.Data = discoveryStep{Choice: c, Lost: true}
		return v, nil
	case err != nil:
		return nil, err
	}
	shown := discoveryStep{Choice: c, Found: found}
	shown.TLS = found.Recommended != nil && found.Recommended.Transport == uri.TLS
	if found.Status == discovery.Running {
		v.Live = []string{"discovery"}
	}
	v.Data = shown
	return v, nil
}

// choose continues with the server at the chosen port over TLS, or with the endpoint as typed.
func (p pages) choose(ctx context.Context, r *page.Request) (page.Answer, error) {
	c, err := p.choiceOf(ctx, r)
	if err != nil {
		return nil, err
	}
	if given := r.Field("port"); given != "" {
		to, err := uri.ParseDestination(c.Endpoint)
		port := whole(given)
		if err != nil || port < 1 {
			return nil, callwright.Invalid("port", "must be from 1 to 65535").Because(err)
		}
		to.Port = uint16(port)
		c.Endpoint = overTLS(to)
	}
	return p.store(ctx, c, setup.StepFirewall)
}

// firewallStep holds the data of the step that shows the required firewall rules.
type firewallStep struct {
	Choice choice // its id is empty outside of a set-up
	Region setup.Region
	Calls  *setup.OutboundSetup // how to send calls here; nil without inbound calls, or if the region accepts none
}

func (p pages) firewall(ctx context.Context, r *page.Request) (page.Answer, error) {
	var err error
	shown := firewallStep{Choice: choice{setup.Draft{Directions: setup.InboundOnly}}}
	if r.Query("setup") != "" {
		if shown.Choice, err = p.choiceOf(ctx, r); err != nil {
			return nil, err
		}
	}
	if shown.Region, err = p.cfg.Setup.Firewall(ctx, r.Org()); err != nil {
		return nil, err
	}
	if shown.Choice.Inbound() {
		out, err := p.cfg.Setup.OutboundSetup(ctx, r.Org(), "")
		switch {
		case err == nil:
			shown.Calls = &out
		case callwright.CodeOf(err) != callwright.CodeUnavailable:
			return nil, err
		}
	}
	v := &page.View{Page: "firewall", Title: title, Data: shown}
	if shown.Choice.ID == "" {
		v.Title = "Reach this server"
	}
	return v, nil
}

// authenticationForm holds the data of the step that asks how both sides authenticate.
type authenticationForm struct {
	choice
	Faults page.Faults
}

func (p pages) authentication(ctx context.Context, r *page.Request) (page.Answer, error) {
	c, err := p.choiceOf(ctx, r)
	return &page.View{Page: "authentication", Title: title, Data: authenticationForm{choice: c}}, err
}

// authenticate stores how both sides authenticate, and redirects to the numbers step.
func (p pages) authenticate(ctx context.Context, r *page.Request) (page.Answer, error) {
	c, err := p.choiceOf(ctx, r)
	if err != nil {
		return nil, err
	}
	c.Auth, c.Verify = setup.Auth(r.Field("auth")), sip.TLSVerification(r.Field("verify"))
	if !c.Outbound() {
		c.Endpoint = r.Field("endpoint")
	}
	answer, err := p.store(ctx, c, setup.StepNumbers)
	faults, mend := page.FaultsOf(err, nil)
	if !mend || callwright.CodeOf(err) != callwright.CodeBadRequest {
		return answer, err
	}
	form := authenticationForm{c, faults}
	return &page.View{Page: "authentication", Title: title, Status: http.StatusUnprocessableEntity, Data: form}, nil
}
