package sip

import (
	"errors"
	"net/netip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/header"
)

// DirectionInput describes one direction of a number. In an attachment a nil field means the default, in an update it
// means no change.
type DirectionInput struct {
	Type     Direction
	Endpoint *string // the SIP URI of the customer's server: see Trunk.Endpoint
	AuthMode *AuthMode
	// Register holds the credentials for AuthRegister as the owner gave them. The password is not stored: see
	// Attached.Password.
	Register *Credentials
	// CallUsername and CallPassword are for digest challenges of calls: see Options.Call.
	CallUsername *string
	CallPassword *callwright.Secret
	Port         *int
	Transport    *string
	Verify       *TLSVerification
	AllowedIPs   *[]netip.Prefix
	SecureMedia  *bool
	Transfers    *TransferPolicy
	DTMF         *DTMFMode
	Redirects    *RedirectPolicy
	Headers      *[]header.Rule
}

// shape applies an input to a trunk. The result may lack a registrar, which withRegistrar takes from the number's other
// trunk. Errors have the fields of the input's JSON.
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
	set(&o.Transfers, in.Transfers)
	set(&o.DTMF, in.DTMF)
	set(&o.Redirects, in.Redirects)
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

// below returns an error with a path before its field.
func below(path string, err error) error {
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || e.Field == "" {
		return err
	}
	placed := *e
	placed.Field = path + "." + e.Field
	return &placed
}
