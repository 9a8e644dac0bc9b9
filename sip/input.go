package sip

import (
	"errors"
	"net/netip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/header"
)

// DirectionInput describes one direction of a number. A nil field means the default in an attachment, and no change in an update.
type DirectionInput struct {
	Type     Direction
	Endpoint *string // SIP URI of the customer's server: see Trunk.Endpoint
	AuthMode *AuthMode
	// Register contains the credentials for AuthRegister as the customer chose them. The service does not store the password: see
	// Attached.Password.
	Register *Credentials
	// CallUsername and CallPassword answer digest challenges of calls: see Options.Call.
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

// shape applies an input to a trunk. An inbound trunk in the result may lack a registrar, which withRegistrar copies from the number's
// outbound trunk. Errors name the fields of the input's JSON form.
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

// below returns an error with path put in front of its field. It returns errors without a field unchanged.
func below(path string, err error) error {
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || e.Field == "" {
		return err
	}
	placed := *e
	placed.Field = path + "." + e.Field
	return &placed
}
