package node

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// The bounds of a Heartbeat.
const (
	heartbeatPatience = LeaseRenewal     // for one renewal
	maxNodes          = 1000             // alive concurrently
	deleteNodeAfter   = 24 * time.Hour   // deletes the lease of a dead node
	steadyAfter       = LeaseTTL         // in contact, before a node declares others dead
	outOfContact      = 2 * LeaseRenewal // since the last renewal: other nodes may have missed theirs, too
)

// HeartbeatConfig configures a Heartbeat.
type HeartbeatConfig struct {
	Leases Leases `required:"always"`
	Kind   string `required:"always"` // of the lease, such as "call.node"
	Node   string `required:"always"` // names this process; every process of a deployment, past or present, has another name

	OnReturn func(ctx context.Context) // called after a gap in which other nodes may have declared this one dead; nil: not called

	callwright.Runtime
}

// Heartbeat renews the lease by which other nodes know that this node is alive. Peers reads the leases of the same kind and returns
// which nodes are alive. Every domain has its own kind. Records of work in progress, such as live calls, name their node, so that
// other nodes find the work of a dead one. At most 999 nodes of a kind may be alive concurrently.
type Heartbeat struct {
	cfg HeartbeatConfig

	failing callwright.Outage

	mu    sync.Mutex
	runs  bool
	last  time.Time // the last renewal that has come through; zero: there was none
	since time.Time // since when none has been missed
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

// Run acquires the lease, renews it every LeaseRenewal until ctx ends, and releases it then. The error is always nil.
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

// Beat renews the lease once, or acquires it. Run calls it. A service that must hold its lease before it starts any work
// calls Beat before it starts Run in a goroutine. A failure is logged when it begins and when it is over, and Held reports it.
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

// claimLease renews the lease, or takes it anew when it was never had or is lost.
func (h *Heartbeat) claimLease(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, heartbeatPatience)
	defer cancel()
	leases, err := h.cfg.Leases.Renew(ctx, h.cfg.Kind, h.cfg.Node, now, now.Add(LeaseTTL))
	if err == nil && len(leases) == 0 {
		leases, err = h.cfg.Leases.Claim(ctx, h.cfg.Kind, h.cfg.Node, []string{h.cfg.Node}, now, now.Add(LeaseTTL))
	}
	if err == nil && len(leases) == 0 {
		err = callwright.ErrConflict // another process has this node's name
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

// Peers returns which nodes of this kind are alive. ok is false when this node has started, or was out of contact, less
// than LeaseTTL ago: other nodes may have missed their renewals too, and must not be declared dead. peers is empty then.
// A program that only observes, and never calls Run or Beat, always gets the answer, without itself. Leases of nodes that
// died more than 24 hours ago are removed. With 1000 nodes alive the error is CodeInvalidState.
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

// Held reports whether the node holds its lease, by its own clock. After Run has returned it does not. A node without its lease
// should start nothing, because other nodes may declare it dead.
func (h *Heartbeat) Held() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.last.IsZero() && h.cfg.Clock.Now().Sub(h.last) < LeaseTTL
}

// steady reports whether the other nodes had the time for a renewal since this node was out of contact.
func (h *Heartbeat) steady(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.runs || now.Sub(h.last) <= outOfContact && now.Sub(h.since) >= steadyAfter
}

// Peers lists the nodes that are alive.
type Peers struct {
	Alive []string // nodes that hold their leases, sorted; this one too, if it holds its own

	lastSeen map[string]time.Time
}

// LastSeen returns the last renewal of a dead node, or zero when the node is unknown.
func (p Peers) LastSeen(node string) time.Time { return p.lastSeen[node] }
