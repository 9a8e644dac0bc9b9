package registration

import (
	"context"
	"time"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/uri"
)

// Line sends REGISTER requests. siptest.RunRegistrationLine tests it.
type Line interface {
	// Register creates or refreshes a binding of our Contact for b.Expires, and returns the time that the server granted, even if
	// it has rewritten the Contact. From then on calls over the binding's connection belong to the trunk. A final response other
	// than a success is a *Refusal; any other error means that no final response came, for example because ctx ended. After a
	// refusal, after Unregister and after the loss of the connection, Register makes a new binding.
	Register(ctx context.Context, b Binding) (granted time.Duration, err error)
	// Unregister removes a trunk's binding at the server, and releases its connection regardless of the response. It does nothing
	// for a trunk without a binding. It does not call the binding's Lost.
	Unregister(ctx context.Context, trunkID string)
}

// Binding is one trunk's registration.
type Binding struct {
	TrunkID     string
	User        string // user part of our Contact: Trunk.ContactUser
	Server      uri.URI
	Verify      sip.TLSVerification
	Credentials sip.Credentials
	Expires     time.Duration
	Lost        func() // called from any goroutine when the binding's connection is lost; at most once for each Register
}

// Refusal is a final response other than a success.
type Refusal struct {
	Code       int           // of the response
	Reason     string        // never empty
	Auth       bool          // the server does not accept the credentials
	RetryAfter time.Duration // 0: absent
	MinExpires time.Duration // of a 423; 0: absent
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }
