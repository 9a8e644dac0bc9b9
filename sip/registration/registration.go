package registration

import (
	"context"
	"time"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/uri"
)

// Line sends REGISTER requests. siptest.RunRegistrationLine tests it.
type Line interface {
	// Register creates or refreshes a binding of our Contact for b.Expires. It returns the time that the server has granted, even if the
	// server has rewritten the Contact. From then on, calls over the binding's connection belong to the trunk. Register returns a *Refusal
	// for a final response other than a success; any other error means that no final response arrived, for example because ctx ended. After
	// a refusal, after Unregister and after the loss of the connection, Register creates a new binding.
	Register(ctx context.Context, b Binding) (granted time.Duration, err error)
	// Unregister removes a trunk's binding at the server, and releases its connection regardless of the response. It does nothing if the
	// trunk has no binding. It does not call Binding.Lost.
	Unregister(ctx context.Context, trunkID string)
}

// Binding contains the parameters with which a trunk registers.
type Binding struct {
	TrunkID     string
	User        string // user part of our Contact: see Trunk.ContactUser
	Server      uri.URI
	Verify      sip.TLSVerification
	Credentials sip.Credentials
	Expires     time.Duration
	Lost        func() // called when the binding's connection is lost, from any goroutine, at most once per Register
}

// Refusal is the error for a final response other than a success.
type Refusal struct {
	Code       int           // status of the response
	Reason     string        // human-readable, never empty
	Auth       bool          // the server does not accept the credentials
	RetryAfter time.Duration // 0 if absent
	MinExpires time.Duration // Min-Expires of a 423; 0 if absent
}

// Error returns r.Reason.
func (r *Refusal) Error() string { return r.Reason }
