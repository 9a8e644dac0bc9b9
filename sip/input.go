package sip

import (
	"errors"
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

// shape is a trunk as an input makes it of what it was. It is as complete as can be without the number's other trunk: a
// registrar may be missing. Errors have the fields of the input's JSON.
func (s *Service) shape(t Trunk, in DirectionInput) (Trunk, error) {
	o := &t.Options
	set(&t.Endpoint, in.Endpoint)
	set(&t.Headers, in.Headers)
	set(&o.AuthMode, in.AuthMode)
	set(&o.Call.Username, in.CallUsername)
	set(&o.Call.Password, in.CallPassword)
	set(&o.Port, in.Port)
	set(&o.Transport, in.Transport)
	set(&o.Verify, in.Verify)
	set(&o.AllowedIPs, in.AllowedIPs)
	if in.SecureMedia != nil {
		o.SecureMedia = in.SecureMedia
	}
	if err := checkPlaces(t, in); err != nil {
		return Trunk{}, err
	}
	if in.Register != nil {
		o.Register = Credentials{Username: in.Register.Username, Password: s.derive(t.Org, *in.Register)}
	}
	if t.Direction == Inbound && !t.registers() {
		t.Endpoint, o.Register = "", Credentials{}
	}
	return t, s.checkTrunk(t)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// below puts the field of an error under a path.
func below(path string, err error) error {
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || e.Field == "" {
		return err
	}
	placed := *e
	placed.Field = path + "." + e.Field
	return &placed
}
