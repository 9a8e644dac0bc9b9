package sip

import (
	"net/netip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/header"
)

// DirectionInput is what one direction of a number shall be. In an attachment what is nil is the default; in an update
// what is nil stays as it is.
type DirectionInput struct {
	Type     Direction
	Endpoint *string // the SIP URI of the customer's server: see Trunk.Endpoint
	AuthMode *AuthMode
	// Register is what AuthRegister goes by, as its owner gave it. The password is not kept: see Attached.Password.
	Register *Credentials
	// CallUsername and CallPassword are for digest challenges of calls: see Options.Call.
	CallUsername *string
	CallPassword *callwright.Secret
	Port         *int
	Transport    *string
	Verify       *TLSVerification
	AllowedIPs   *[]netip.Prefix
	SecureMedia  *bool
	Headers      *[]header.Rule
}

// options are the settings that a direction attached so has.
func (d DirectionInput) options() Options {
	return Options{
		AuthMode: orZero(d.AuthMode), Register: orZero(d.Register),
		Call: Credentials{Username: orZero(d.CallUsername), Password: orZero(d.CallPassword)},
		Port: orZero(d.Port), Transport: orZero(d.Transport), Verify: orZero(d.Verify),
		AllowedIPs: orZero(d.AllowedIPs), SecureMedia: d.SecureMedia,
	}
}

func orZero[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}
