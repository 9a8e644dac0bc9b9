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

// choice is the draft of a set-up. The address of each step contains the draft's id, so that the user can leave a set-up and resume it.
type choice struct{ setup.Draft }

// choiceOf returns the draft that the address names. Drafts of other organizations are not found.
func (p pages) choiceOf(ctx context.Context, r *page.Request) (choice, error) {
	d, err := p.cfg.Setup.Draft(ctx, r.Org(), r.Query("setup"))
	return choice{d}, err
}

// store stores a draft with its next step, and redirects to that step.
func (p pages) store(ctx context.Context, c choice, next setup.Step) (page.Answer, error) {
	c.Step = next
	d, err := p.cfg.Setup.StoreDraft(ctx, c.Draft)
	return page.SeeOther{To: choice{d}.Here()}, err
}

// To returns the address of a step of this set-up.
func (c choice) To(step string) string {
	return address("/trunks/new/"+step, url.Values{"setup": {c.ID}})
}

// Proof returns the address of the page that proves a number. The set-up continues from there.
func (c choice) Proof(number string) string {
	return address(toTrunk(number, "proof"), url.Values{"setup": {c.ID}})
}

// Here returns the address of the step at which the set-up continues.
func (c choice) Here() string { return c.To(string(c.Step)) }

// StepName returns the displayed name of c.Step.
func (c choice) StepName() string {
	for _, s := range stepNames {
		if s.step == c.Step {
			return s.name
		}
	}
	return ""
}

// Steps returns the steps of the set-up, with the given step as the current one.
func (c choice) Steps(now string) []step {
	return steps(now, c.Outbound(), c.Discovery != "" || now == "Destination" || now == "Discovery")
}

// Kept reports whether the draft contains a password. No page shows the password.
func (c choice) Kept() bool { return c.Password != "" }

// overTLS returns the SIP URI of a server with TLS as its transport.
func overTLS(d uri.Destination) string {
	return uri.URI{
		Scheme: uri.SIP, User: d.User, Host: d.Host, Port: d.Port, Params: []uri.Param{{Name: "transport", Value: string(uri.TLS)}},
	}.String()
}

// inputs returns the directions that the set-up attaches.
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

// numbersOf returns c with the values of the numbers form. If the form's password is empty, the draft's password is kept.
func (c choice) numbersOf(r *page.Request) choice {
	c.Username, c.Numbers, c.Allowed = r.Field("username"), r.Field("numbers"), r.Field("allowed")
	if password := r.PostForm.Get("password"); password != "" {
		c.Password = callwright.Secret(password)
	}
	return c
}
