package proof

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// Proof is an organization's proof that it answers a number.
type Proof struct {
	ID        string
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	State     State
	Reason    string // why it has failed; otherwise empty
	Hash      string // HMAC of the code in hexadecimal; empty: there is none yet
	Tries     int    // wrong codes so far
	CreatedAt time.Time
	CalledAt  *time.Time // when the call was begun, or would have been if the node has died; nil: not yet
	ExpiresAt time.Time  // until when the code is taken; of a proven number, until when it may be attached
	Version   int64      // for the compare-and-set
}

// Limits are the most proofs of one number, of all organizations together, and of one organization within a window. A number may belong
// to a stranger, who is not to be called more often.
type Limits struct{ Number, Org int }

// Store stores proofs. Given and returned values share no memory with stored ones. Every field comes back as it was stored; times are
// returned in UTC, exact to the microsecond. siptest.RunProofStore tests it.
type Store interface {
	// Insert adds a proof with Version 1, unless the number or the organization has as many as limits allow that were created after
	// since. Then nothing is added, and oldest is the creation of the oldest among the newest that make up the limit, the later one of
	// both limits. Of concurrent proofs, on any nodes, exactly as many are added as the limits allow, and the others are no error.
	// CodeConflict when the ID is taken, by whichever organization. Insert takes part in the transaction of ctx.
	Insert(ctx context.Context, p Proof, limits Limits, since time.Time) (added bool, oldest time.Time, err error)
	// Update replaces the proof whose stored Version is p.Version, and adds one to the Version. CodeConflict when the stored Version
	// differs, CodeNotFound when the organization has no such proof.
	Update(ctx context.Context, p Proof) error
	// Latest returns the newest proof of an organization's number; CodeNotFound when it has none.
	Latest(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (Proof, error)
	// Forget removes up to limit proofs that were created before the given time, and returns how many.
	Forget(ctx context.Context, before time.Time, limit int) (int, error)
}

// Announcer calls numbers and speaks to whoever answers; Voice implements it. A call of it leaves neither a transcript nor a recording:
// these would show the code.
type Announcer interface {
	// Announce calls a number, speaks the parts with pauses between them after the answer, and hangs up. It returns when the call
	// has ended. A call that is not answered, or to which nothing could be said, is an error whose message says why; one that the callee
	// ends early is none. When ctx ends, the call is ended.
	Announce(ctx context.Context, a Announcement) error
}

// Announcement is a call and what is said.
type Announcement struct {
	ID    string           // of the call in the log
	Org   callwright.OrgID // owns From
	From  callwright.PhoneNumber
	To    callwright.PhoneNumber
	Parts []string // in English
}

// Proven tells which numbers are proven. It implements sip.Proofs.
type Proven struct {
	Store Store

	callwright.Runtime
}

// Proven reports whether an organization has proven lately that it answers a number.
func (p Proven) Proven(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (bool, error) {
	latest, err := p.Store.Latest(ctx, org, number)
	if callwright.CodeOf(err) == callwright.CodeNotFound {
		return false, nil
	}
	return latest.At(p.WithDefaults().Clock.Now()).State == StateProven, err
}
