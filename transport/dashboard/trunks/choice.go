package trunks

import (
	"net/url"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/uri"
	"github.com/callwright/callwright/transport/dashboard/page"
)

// choice is what somebody has chosen in a set-up so far. It is in the address of each step, so that a set-up can be left and taken up
// again; secrets are not in it.
type choice struct {
	Direction string // outbound, inbound or both
	Endpoint  string // the SIP URI of the server; empty: none
	Discovery string // id
	Auth      string // none, digest or register
	Verify    string // of the server's certificate; empty: in full
}

// choiceOf reads the choice in the address.
func choiceOf(r *page.Request) (choice, error) {
	c := choice{
		Direction: r.Query("direction"), Endpoint: r.Query("endpoint"), Discovery: r.Query("discovery"), Auth: r.Query("auth"),
		Verify: r.Query("verify"),
	}
	switch c.Direction {
	case "", string(sip.Inbound), string(sip.Outbound), "both":
	default:
		return c, callwright.Invalid("direction", "must be inbound, outbound or both")
	}
	switch c.Auth {
	case "", "none", "digest", "register":
		return c, nil
	}
	return c, callwright.Invalid("auth", "must be none, digest or register")
}

// Inbound and Outbound report whether the choice has the direction.
func (c choice) Inbound() bool  { return c.Direction != string(sip.Outbound) && c.Direction != "" }
func (c choice) Outbound() bool { return c.Direction != string(sip.Inbound) && c.Direction != "" }

// Connects reports whether the trunk connects to the customer's server.
func (c choice) Connects() bool { return c.Outbound() || c.Auth == "register" }

// To returns the address of a step.
func (c choice) To(step string) string {
	return address("/trunks/new/"+step, url.Values{
		"direction": {c.Direction}, "endpoint": {c.Endpoint}, "discovery": {c.Discovery}, "auth": {c.Auth}, "verify": {c.Verify},
	})
}

// Use returns the address of the step after the discovery, with another port.
func (c choice) Use(port uint16) string {
	to, _ := uri.ParseDestination(c.Endpoint) // another text is refused by the domain when the trunk is attached
	to.Port = port
	c.Endpoint, c.Discovery = overTLS(to), ""
	return c.To("firewall")
}

// Skip returns the address of the step after the discovery, with the server as it was typed.
func (c choice) Skip() string {
	c.Discovery = ""
	return c.To("firewall")
}

// overTLS returns a server as a SIP URI over TLS.
func overTLS(d uri.Destination) string {
	return uri.URI{
		Scheme: uri.SIP, User: d.User, Host: d.Host, Port: d.Port, Params: []uri.Param{{Name: "transport", Value: string(uri.TLS)}},
	}.String()
}

// inputs returns the directions to attach.
func (c choice) inputs(r *page.Request) ([]sip.DirectionInput, error) {
	username, password := r.Field("username"), callwright.Secret(r.PostForm.Get("password"))
	verify := sip.TLSVerification(c.Verify)
	var all []sip.DirectionInput
	if c.Outbound() {
		all = append(all, sip.DirectionInput{Type: sip.Outbound, Endpoint: &c.Endpoint, Verify: &verify})
	}
	if c.Inbound() {
		in := sip.DirectionInput{Type: sip.Inbound}
		allowed, err := prefixes(r.Field("allowed"))
		if err != nil {
			return nil, err
		}
		in.AllowedIPs = &allowed
		if c.Auth == "register" {
			mode := sip.AuthRegister
			in.AuthMode, in.Verify, in.Register = &mode, &verify, &sip.Credentials{Username: username, Password: password}
			in.Endpoint = &c.Endpoint
		}
		all = append(all, in)
	}
	if c.Auth == "digest" {
		for i := range all {
			all[i].CallUsername, all[i].CallPassword = &username, &password
		}
	}
	return all, nil
}
