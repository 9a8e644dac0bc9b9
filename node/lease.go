package node

import (
	"context"
	"time"
)

// LeaseTTL is the duration of a lease after its renewal. A node without a renewal for that time counts as dead.
const LeaseTTL = 15 * time.Second

// LeaseRenewal is the interval at which a node renews its leases. Three renewals fit into LeaseTTL.
const LeaseRenewal = LeaseTTL / 3

// Lease is the exclusive right of a node to something, until a time.
type Lease struct {
	Kind      string    // the kind of the leased thing, such as "call.node"
	Key       string    // identifies the thing within its kind
	Node      string    // holds the lease
	Fence     int64     // the fencing number: greater whenever the lease is acquired anew; a renewal keeps it
	RenewedAt time.Time // when the node acquired or last renewed it
	ExpiresAt time.Time // another node may acquire it from then on
}

// Leases stores leases. Every method takes part in the transaction of its context, if there is one, and reads or changes all of its
// leases in one statement. Kinds, keys and nodes are non-empty UTF-8 texts without NUL characters; a limit is at least 1. Leases of
// different kinds are independent, also with equal keys. callwrighttest.RunLeases tests it.
//
// Times are arguments and come from the clock of the calling node; they are returned in UTC, exact to the microsecond. A node
// compares its own time with deadlines that other nodes have written. The clocks of nodes must therefore agree to within
// LeaseRenewal, as NTP keeps them. A node whose clock is ahead acquires leases too early. Work that must not happen twice even then
// is protected by the fencing number, or by a compare-and-set on a version.
type Leases interface {
	// Claim acquires the free keys among the given ones for the node, until the given time. It returns their leases, each once,
	// sorted by key. A key is free when it has no lease, when its lease expired at now or before, or when the node holds it already.
	// Without a free key Claim returns none, and no error. Of several nodes that claim a key concurrently only one succeeds; the
	// others get no error, also when calls name the same keys in different orders.
	//
	// A lease that the node holds and that has not expired keeps its Fence. An expired lease gets the next Fence. The Fence of a new
	// lease is now in microseconds since 1970, so that it is greater than those that the key had before it was released.
	Claim(ctx context.Context, kind, node string, keys []string, now, until time.Time) ([]Lease, error)
	// Renew extends all leases of a kind that the node holds, sets their RenewedAt to now, and returns them sorted by key. The node
	// still holds an expired lease that no other node has acquired.
	Renew(ctx context.Context, kind, node string, now, until time.Time) ([]Lease, error)
	// Release ends the node's leases of these keys immediately. Leases of other nodes stay unchanged. Keys without a lease, and no
	// keys at all, are no error.
	Release(ctx context.Context, kind, node string, keys []string) error
	// Held returns up to limit leases of a kind that have not expired at now, the latest deadline first, and of equal deadlines the
	// greatest key first.
	Held(ctx context.Context, kind string, now time.Time, limit int) ([]Lease, error)
	// Expired returns up to limit leases of a kind that expired at now or before, the earliest deadline first, and of equal
	// deadlines the least key first. An expired lease is stored until a node acquires or releases it.
	Expired(ctx context.Context, kind string, now time.Time, limit int) ([]Lease, error)
}
