package trunks

import (
	"context"
	"net/url"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/uri"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// choice contains the choices of a set-up so far. Its id is in the address of each step, so that a set-up can be left and resumed.
type choice struct{ setup.Draft }

// choiceOf returns the set-up of the address. The set-ups of others are not found.
func (p pages) choiceOf(ctx context.Context, r *page.Request) (choice, error) {
	d, err := p.cfg.Setup.Draft(ctx, r.Org(), r.Query("setup"))
	return choice{d}, err
}

// store stores a choice and leads to the step at which it continues.
func (p pages) store(ctx context.Context, c choice, next setup.Step) (page.Answer, error) {
	c.Step = next
	d, err := p.cfg.Setup.StoreDraft(ctx, c.Draft)
	return page.SeeOther{To: choice{d}.Here()}, err
}

// To returns the address of a step.
func (c choice) To(step string) string {
	return address("/trunks/new/"+step, url.Values{"setup": {c.ID}})
}

// Proof returns the address at which a number is proven, from where the set-up continues.
func (c choice) Proof(number string) string {
	return address(toTrunk(number, "proof"), url.Values{"setup": {c.ID}})
}

// Here returns the address of the step at which the set-up continues.
func (c choice) Here() string { return c.To(string(c.Step)) }

// StepName returns the name of that step.
func (c choice) StepName() string {
	for _, s := range stepNames {
		if s.step == c.Step {
			return s.name
		}
	}
	return ""
}

// Steps returns the steps of the set-up, which is at one of them.
func (c choice) Steps(now string) []step {
	return steps(now, c.Outbound(), c.Discovery != "" || now == "Destination" || now == "Discovery")
}

// Kept reports whether a password is kept, which no page shows.
func (c choice) Kept() bool { return c.Password != "" }

// overTLS returns a server as a SIP URI over TLS.
func overTLS(d uri.Destination) string {
	return uri.URI{
		Scheme: uri.SIP, User: d.User, Host: d.Host, Port: d.Port, Params: []uri.Param{{Name: "transport", Value: string(uri.TLS)}},
	}.String()
}

// inputs returns the directions to attach.
func (c choice) inputs() ([]sip.DirectionInput, error) {
	var all []sip.DirectionInput
	if c.Outbound() {
		all = append(all, sip.DirectionInput{Type: sip.Outbound, Endpoint: &c.Endpoint, Verify: &c.Verify})
	}
	if c.Inbound() {
		in := sip.DirectionInput{Type: sip.Inbound}
		allowed, err := prefixes(c.Allowed)
		if err != nil {
			return nil, err
		}
		in.AllowedIPs = &allowed
		if c.Auth == setup.AuthRegister {
			mode := sip.AuthRegister
			in.AuthMode, in.Verify, in.Register = &mode, &c.Verify, &sip.Credentials{Username: c.Username, Password: c.Password}
			in.Endpoint = &c.Endpoint
		}
		all = append(all, in)
	}
	if c.Auth == setup.AuthDigest {
		for i := range all {
			all[i].CallUsername, all[i].CallPassword = &c.Username, &c.Password
		}
	}
	return all, nil
}

// numbersOf takes the last step of a form. An empty password means the stored one.
func (c choice) numbersOf(r *page.Request) choice {
	c.Username, c.Numbers, c.Allowed = r.Field("username"), r.Field("numbers"), r.Field("allowed")
	if password := r.PostForm.Get("password"); password != "" {
		c.Password = callwright.Secret(password)
	}
	return c
}
