package registration

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/uri"
)

// Line sends REGISTER requests.
type Line interface {
	// Register makes or refreshes a binding of our Contact, for as long as Expires says, and gives what the server
	// granted. Calls that come over its connection are this trunk's from then on. A final answer that is no success is a
	// *Refusal; any other error means that no answer came.
	Register(ctx context.Context, b Binding) (granted time.Duration, err error)
	// Unregister takes a binding back and lets go of its connection, whatever the server says.
	Unregister(ctx context.Context, trunkID string)
}

// Binding is one trunk's registration.
type Binding struct {
	TrunkID     string
	Number      callwright.PhoneNumber // the user part of our Contact
	Server      uri.URI
	Verify      sip.TLSVerification
	Credentials sip.Credentials
	Expires     time.Duration
	Lost        func() // called, from any goroutine, when the binding's connection is gone; at most once a Register
}

// Refusal is a final answer that is no success.
type Refusal struct {
	Code       int
	Reason     string
	Auth       bool          // the credentials are not accepted
	RetryAfter time.Duration // 0: the server does not say
	MinExpires time.Duration // of a 423; 0: none
}

// Error is the code and the reason.
func (r *Refusal) Error() string { return r.Reason }
