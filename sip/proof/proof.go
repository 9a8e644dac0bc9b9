package proof

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// Proof is the state of an organization's proof that it answers a number.
type Proof struct {
	ID        string
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	State     State
	Reason    string // reason for a failure; otherwise empty
	Hash      string // HMAC of the code in hexadecimal; empty before the call
	Tries     int    // number of wrong codes so far
	CreatedAt time.Time
	CalledAt  *time.Time // start of the call, set even if the node died before dialing; nil before the call
	ExpiresAt time.Time  // time at which the request, its code or the finished proof becomes invalid, depending on State
	Version   int64      // for compare-and-set
}

// Limits are the maximum numbers of proofs within a window: for one number, counting all organizations, and for one organization. They
// protect people from calls about numbers that strangers claim.
type Limits struct{ Number, Org int }

// Store stores proofs. Given and returned values share no memory with stored ones. Every field is returned as stored; times are in UTC with
// microseconds. siptest.RunProofStore tests it.
type Store interface {
	// Insert adds a proof with Version 1, unless the proofs created after the time since have reached a limit for the number or the
	// organization. In that case it adds nothing, and oldest is the creation time of the oldest proof that counts toward the limit; if both
	// limits are reached, the later of the two times. Of concurrent calls, on any nodes, exactly as many add a proof as the limits allow;
	// the others return no error. Insert returns CodeConflict if a proof of any organization has the same ID. It takes part in the
	// transaction of ctx.
	Insert(ctx context.Context, p Proof, limits Limits, since time.Time) (added bool, oldest time.Time, err error)
	// Update replaces the proof whose stored Version is p.Version, and increments the Version. It returns CodeConflict if the stored
	// Version differs, and CodeNotFound if the organization has no such proof.
	Update(ctx context.Context, p Proof) error
	// Latest returns the newest proof of an organization's number, or CodeNotFound if there is none.
	Latest(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (Proof, error)
	// DeleteOld deletes at most limit proofs that were created before the given time. It returns how many it deleted.
	DeleteOld(ctx context.Context, before time.Time, limit int) (int, error)
}

// Announcer calls numbers and speaks to the callee; Voice implements it. Its calls must not leave a transcript or a recording, because
// these would reveal the code.
type Announcer interface {
	// Announce calls a number, speaks the parts with pauses between them after the answer, and hangs up. It returns when the call has
	// ended. It returns an error with the reason if the call is not answered or no speech can be played, but not if the callee hangs up
	// early. If ctx ends, Announce ends the call.
	Announce(ctx context.Context, a Announcement) error
}

// Announcement describes a call and the text to speak.
type Announcement struct {
	ID    string           // id of the call in the call log
	Org   callwright.OrgID // organization that has attached From
	From  callwright.PhoneNumber
	To    callwright.PhoneNumber
	Parts []string // text in English
}

// Proven reports proven numbers. It implements sip.Proofs.
type Proven struct {
	Store Store

	callwright.Runtime
}

// Proven reports whether an organization has a proof of a number that has not expired: see Validity.
func (p Proven) Proven(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (bool, error) {
	latest, err := p.Store.Latest(ctx, org, number)
	if callwright.CodeOf(err) == callwright.CodeNotFound {
		return false, nil
	}
	return latest.At(p.WithDefaults().Clock.Now()).State == StateProven, err
}
