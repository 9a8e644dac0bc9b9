package node

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// These constants are the intervals and limits of a Heartbeat.
const (
	heartbeatPatience = LeaseRenewal     // timeout of one renewal
	maxNodes          = 1000             // one more than the nodes that may be alive concurrently
	deleteNodeAfter   = 24 * time.Hour   // age at which the expired lease of a dead node is deleted
	steadyAfter       = LeaseTTL         // time in contact before a node declares others dead
	outOfContact      = 2 * LeaseRenewal // time since the last renewal after which other nodes may have missed theirs, too
)

// HeartbeatConfig lists the ports and names of a Heartbeat.
type HeartbeatConfig struct {
	Leases Leases `required:"always"`
	Kind   string `required:"always"` // kind of the lease, such as "call.node"
	Node   string `required:"always"` // name of this process, unique over all past and present processes of a deployment

	OnReturn func(ctx context.Context) // called after a gap in which other nodes may have declared this one dead; may be nil

	callwright.Runtime
}

// Heartbeat renews a lease that shows other nodes that this node is alive. Peers reads the leases of the same kind and returns which nodes
// are alive. Every domain uses its own kind. Records of work in progress, such as live calls, name their node, so that other nodes can find
// the work of a dead node. At most 999 nodes of a kind may be alive concurrently.
type Heartbeat struct {
	cfg HeartbeatConfig

	failing callwright.Outage

	mu    sync.Mutex
	runs  bool
	last  time.Time // time of the last successful renewal; zero if there was none
	since time.Time // time of the first renewal after the last gap
}

// NewHeartbeat checks the configuration. Run starts the heartbeat.
func NewHeartbeat(cfg HeartbeatConfig) (*Heartbeat, error) {
	if err := callwright.PrepareConfig(&cfg); err != nil {
		return nil, err
	}
	if cfg.OnReturn == nil {
		cfg.OnReturn = func(context.Context) {}
	}
	return &Heartbeat{cfg: cfg}, nil
}

// Run claims the lease, renews it every LeaseRenewal until ctx ends, and then releases it. The error is always nil.
func (h *Heartbeat) Run(ctx context.Context) error {
	ticker := time.NewTicker(LeaseRenewal)
	defer ticker.Stop()
	for {
		h.Beat(ctx)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			h.release(context.WithoutCancel(ctx))
			return nil
		}
	}
}

// Beat renews the lease once, or claims it. Run calls Beat. A service that must hold its lease before it starts any work calls Beat before
// it starts Run in a goroutine. Beat logs the beginning and the end of a series of failures. Held reports whether the lease is held.
func (h *Heartbeat) Beat(ctx context.Context) {
	h.mu.Lock()
	h.runs = true
	h.mu.Unlock()
	now := h.cfg.Clock.Now()
	err := h.claimLease(ctx, now)
	if err == nil || ctx.Err() == nil {
		h.failing.Note(ctx, h.cfg.Logger, "the node's lease cannot be renewed", err, "kind", h.cfg.Kind)
	}
	if err != nil {
		return
	}
	h.mu.Lock()
	silence := now.Sub(h.last)
	back := !h.last.IsZero() && silence > LeaseTTL
	if h.last.IsZero() || silence > outOfContact {
		h.since = now
	}
	h.last = now
	h.mu.Unlock()
	if back {
		h.cfg.Logger.WarnContext(ctx, "the node was out of contact", "kind", h.cfg.Kind, "for", silence)
		h.cfg.OnReturn(ctx)
	}
}

// claimLease renews the lease, or claims it if the node never held it or has lost it.
func (h *Heartbeat) claimLease(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, heartbeatPatience)
	defer cancel()
	leases, err := h.cfg.Leases.Renew(ctx, h.cfg.Kind, h.cfg.Node, now, now.Add(LeaseTTL))
	if err == nil && len(leases) == 0 {
		leases, err = h.cfg.Leases.Claim(ctx, h.cfg.Kind, h.cfg.Node, []string{h.cfg.Node}, now, now.Add(LeaseTTL))
	}
	if err == nil && len(leases) == 0 {
		err = callwright.ErrConflict // another process uses this node's name
	}
	return err
}

func (h *Heartbeat) release(ctx context.Context) {
	h.mu.Lock()
	h.last = time.Time{}
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, heartbeatPatience)
	defer cancel()
	if err := h.cfg.Leases.Release(ctx, h.cfg.Kind, h.cfg.Node, []string{h.cfg.Node}); err != nil {
		h.cfg.Logger.WarnContext(ctx, "the node's lease is not released", "kind", h.cfg.Kind, "error", err)
	}
}

// Peers returns which nodes of this kind are alive. ok is false and peers is empty if this node has started, or was out of contact, less
// than LeaseTTL ago. Other nodes may then have missed their renewals, too, and must not be declared dead. In a program that only observes,
// and never calls Run or Beat, peers is always available and does not include the program. Peers releases the leases of nodes that died
// more than 24 hours ago. It returns CodeInvalidState if 1000 nodes are alive.
func (h *Heartbeat) Peers(ctx context.Context) (peers Peers, ok bool, err error) {
	now := h.cfg.Clock.Now()
	if !h.steady(now) {
		return Peers{}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, heartbeatPatience)
	defer cancel()
	held, err := h.cfg.Leases.Held(ctx, h.cfg.Kind, now, maxNodes)
	if err != nil {
		return Peers{}, false, err
	}
	if len(held) == maxNodes {
		return Peers{}, false, callwright.Errorf(callwright.CodeInvalidState, "at most %d nodes may be alive concurrently", maxNodes-1)
	}
	dead, err := h.cfg.Leases.Expired(ctx, h.cfg.Kind, now, maxNodes)
	if err != nil {
		return Peers{}, false, err
	}
	peers = Peers{lastSeen: map[string]time.Time{}}
	for _, lease := range held {
		peers.Alive = append(peers.Alive, lease.Node)
	}
	for _, lease := range dead {
		peers.lastSeen[lease.Node] = lease.RenewedAt
		if now.Sub(lease.ExpiresAt) > deleteNodeAfter {
			err = errors.Join(err, h.cfg.Leases.Release(ctx, h.cfg.Kind, lease.Node, []string{lease.Key}))
		}
	}
	slices.Sort(peers.Alive)
	return peers, err == nil, err
}

// Held reports whether the node holds its lease, by its own clock. It returns false after Run has returned. A node without its lease should
// start no work, because other nodes may declare it dead.
func (h *Heartbeat) Held() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.last.IsZero() && h.cfg.Clock.Now().Sub(h.last) < LeaseTTL
}

// steady reports whether this node has been in contact long enough for the other nodes to renew their leases. It returns true if this node
// only observes.
func (h *Heartbeat) steady(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.runs || now.Sub(h.last) <= outOfContact && now.Sub(h.since) >= steadyAfter
}

// Peers is the state of the nodes of a kind.
type Peers struct {
	Alive []string // sorted nodes that hold their leases; includes this node if it holds its own

	lastSeen map[string]time.Time
}

// LastSeen returns the time of a dead node's last renewal, or the zero time if the node is unknown or alive.
func (p Peers) LastSeen(node string) time.Time { return p.lastSeen[node] }
