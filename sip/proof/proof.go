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
	Reason    string // reason of a failure; otherwise empty
	Hash      string // HMAC of the code in hexadecimal; empty: none yet
	Tries     int    // wrong codes so far
	CreatedAt time.Time
	CalledAt  *time.Time // when the call was begun, even if the node died before dialing; nil: not yet
	ExpiresAt time.Time  // end of the code's validity; of a proven number, end of the time in which it may be attached
	Version   int64      // for the compare-and-set
}

// Limits are the most proofs within a window of one number, for all organizations together, and of one organization. They protect
// owners of other people's numbers from calls.
type Limits struct{ Number, Org int }

// Store stores proofs. Given and returned values share no memory with stored ones. Every field comes back unchanged; times are
// returned in UTC, exact to the microsecond. siptest.RunProofStore tests it.
type Store interface {
	// Insert adds a proof with Version 1, unless the proofs created after since have reached a limit for the number or the
	// organization. Then it adds nothing, and oldest is the creation time of the oldest proof that counts towards the limit, the
	// later one of both limits. Of concurrent proofs, on any nodes, exactly as many are added as the limits allow; the others are
	// no error. CodeConflict when the ID exists, in whichever organization. Insert takes part in the transaction of ctx.
	Insert(ctx context.Context, p Proof, limits Limits, since time.Time) (added bool, oldest time.Time, err error)
	// Update replaces the proof whose stored Version is p.Version, and adds one to the Version. CodeConflict when the stored Version
	// differs, CodeNotFound when the organization has no such proof.
	Update(ctx context.Context, p Proof) error
	// Latest returns the newest proof of an organization's number; CodeNotFound without one.
	Latest(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (Proof, error)
	// DeleteOld deletes up to limit proofs that were created before the given time, and returns the number of deleted proofs.
	DeleteOld(ctx context.Context, before time.Time, limit int) (int, error)
}

// Announcer calls numbers and speaks to the callee; Voice implements it. Its calls must leave neither a transcript nor a recording,
// which would reveal the code.
type Announcer interface {
	// Announce calls a number, speaks the parts with pauses between them after the answer, and hangs up. It returns when the call
	// has ended. It returns an error with the reason if the call is not answered or no speech could be played, but not if the
	// callee hangs up early. When ctx ends, it ends the call.
	Announce(ctx context.Context, a Announcement) error
}

// Announcement is a call and its spoken text.
type Announcement struct {
	ID    string           // of the call in the log
	Org   callwright.OrgID // owns From
	From  callwright.PhoneNumber
	To    callwright.PhoneNumber
	Parts []string // in English
}

// Proven reports proven numbers. It implements sip.Proofs.
type Proven struct {
	Store Store

	callwright.Runtime
}

// Proven reports whether an organization has proven within Validity that it answers a number.
func (p Proven) Proven(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (bool, error) {
	latest, err := p.Store.Latest(ctx, org, number)
	if callwright.CodeOf(err) == callwright.CodeNotFound {
		return false, nil
	}
	return latest.At(p.WithDefaults().Clock.Now()).State == StateProven, err
}
