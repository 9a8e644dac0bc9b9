package node

import (
	"context"
	"time"
)

// LeaseTTL is the validity of a lease after its last renewal. A node that does not renew its lease for this time counts as dead.
const LeaseTTL = 15 * time.Second

// LeaseRenewal is the interval at which a node renews its leases. Three renewals fit into LeaseTTL.
const LeaseRenewal = LeaseTTL / 3

// Lease is the exclusive right of a node to a resource until a deadline.
type Lease struct {
	Kind      string    // kind of resource, such as "call.node"
	Key       string    // identifies the resource within its kind
	Node      string    // node that holds the lease
	Fence     int64     // fencing number: increases with each new claim; a renewal keeps it
	RenewedAt time.Time // time of the claim or last renewal
	ExpiresAt time.Time // deadline; from then on, another node may claim the lease
}

// Leases stores leases. Every method takes part in the transaction of its context, if there is one, and reads or changes all of its leases
// in one statement. Kinds, keys and nodes are non-empty UTF-8 texts without NUL characters. A limit is at least 1. Leases of different
// kinds are independent, even if their keys are equal. callwrighttest.RunLeases tests it.
//
// Times are arguments from the clock of the calling node. The store returns times in UTC with microseconds. A node compares its own time
// with deadlines that other nodes have written, so the clocks of all nodes must agree to within LeaseRenewal, for example by NTP. A node
// whose clock is ahead claims leases too early. Work that must not happen twice even then must be protected by the fencing number, or by a
// compare-and-set on a version.
type Leases interface {
	// Claim claims the free keys among the given ones for the node, until the given time. It returns their leases, each once, sorted by
	// key. A key is free if it has no lease, if its lease has expired (ExpiresAt is now or earlier), or if the node already holds it. If no
	// key is free, Claim returns no leases and no error. If several nodes claim a key concurrently, exactly one of them gets it. The others
	// get no error, even if the calls list the same keys in different orders.
	//
	// A lease that the node holds and that has not expired keeps its Fence. An expired lease gets the next Fence. A new lease gets now in
	// microseconds since 1970 as its Fence, which is therefore greater than every earlier Fence of the key.
	Claim(ctx context.Context, kind, node string, keys []string, now, until time.Time) ([]Lease, error)
	// Renew extends all leases of a kind that the node holds, sets their RenewedAt to now, and returns them sorted by key. It includes
	// expired leases that no other node has claimed.
	Renew(ctx context.Context, kind, node string, now, until time.Time) ([]Lease, error)
	// Release deletes the node's leases of these keys. It does not affect leases of other nodes. It returns nil for keys without a lease,
	// and for an empty list.
	Release(ctx context.Context, kind, node string, keys []string) error
	// Held returns at most limit leases of a kind that have not expired at the given time, in descending order of (ExpiresAt, Key).
	Held(ctx context.Context, kind string, now time.Time, limit int) ([]Lease, error)
	// Expired returns at most limit leases of a kind that expired at the given time or earlier, in ascending order of (ExpiresAt, Key). An
	// expired lease is stored until a node claims or releases it.
	Expired(ctx context.Context, kind string, now time.Time, limit int) ([]Lease, error)
}
