package callwright

import (
	"context"
	"time"
)

// LeaseTTL is how long a lease of a node lasts after its last renewal, and so how long it takes until other nodes take a
// silent one for dead.
const LeaseTTL = 15 * time.Second

// LeaseRenewal is how often a node renews its leases: three attempts fit into LeaseTTL.
const LeaseRenewal = LeaseTTL / 3

// Lease is the right of one node to something, until a time.
type Lease struct {
	Kind      string    // of what is leased, such as "call.node"
	Key       string    // what is leased, unique within its kind
	Node      string    // which node holds it
	Fence     int64     // the fencing number: greater whenever the lease is acquired anew; a renewal keeps it
	RenewedAt time.Time // when the node acquired or last renewed it
	ExpiresAt time.Time // from then on another node may acquire it
}

// Leases keeps leases: which node does a thing, and until when. Every method takes part in the transaction of its context
// if that carries one, and changes all of its leases in one statement.
//
// Times are arguments, from the clock of the node that calls. Nodes therefore compare their own time with deadlines that
// others have written: their clocks must not differ by more than LeaseRenewal, as NTP keeps them. A node whose clock is
// ahead takes leases early; what must not happen twice even then is written under the fencing number, or as a
// compare-and-set on a version.
type Leases interface {
	// Acquire takes those of the keys that are free for the node, until the given time, and returns them in the order of
	// their keys. Free is a key without a lease, one whose lease expired at now or before, and one that the node holds
	// already. Of several nodes that want a key at once one alone gets it. A lease that the node holds and that has not
	// expired keeps its Fence; one that has expired gets the next one; one that is new begins at now in microseconds
	// since 1970, so that the number is greater than all that the key had before it was released.
	Acquire(ctx context.Context, kind, node string, keys []string, now, until time.Time) ([]Lease, error)
	// Renew prolongs all leases of a kind that the node holds, and returns them in the order of their keys. A lease that
	// has expired and that nobody has acquired since is still the node's.
	Renew(ctx context.Context, kind, node string, now, until time.Time) ([]Lease, error)
	// Release ends the node's leases of these keys: they are free at once. Keys that are not the node's stay as they are.
	Release(ctx context.Context, kind, node string, keys []string) error
	// Held returns the leases of a kind that have not expired at now, up to limit, those that expire last first.
	Held(ctx context.Context, kind string, now time.Time, limit int) ([]Lease, error)
	// Expired returns the leases of a kind that expired at now or before, up to limit, those that expired first first.
	// They are kept until somebody acquires or releases them: whoever has cleared up after a dead node releases its.
	Expired(ctx context.Context, kind string, now time.Time, limit int) ([]Lease, error)
}
