package callwright

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// The bounds of a Heartbeat.
const (
	heartbeatPatience = LeaseRenewal     // for one renewal
	maxNodes          = 1000             // that live at once
	forgetNodeAfter   = 24 * time.Hour   // when the lease of a dead node is removed
	steadyAfter       = LeaseTTL         // how long a node is in contact before it takes others for dead
	outOfContact      = 2 * LeaseRenewal // a renewal that is older than this says that others may not be heard of either
)

// HeartbeatConfig is what a Heartbeat needs.
type HeartbeatConfig struct {
	Leases Leases // required
	Kind   string // what the node does, such as "call.node"; required
	Node   string // this process's name among all nodes, fresh at every start; required

	OnReturn func(ctx context.Context) // called after a silence in which others may have taken this node for dead; nil: nobody is told
	Clock    Clock                     // nil: SystemClock
	Logger   *slog.Logger              // nil: discards
}

// Heartbeat keeps one lease for a node, of the kind of work that it does, and knows from the leases of that kind which
// other nodes live. What a node has begun names it, such as a live call's row; it belongs to a dead node when Peers says
// so.
type Heartbeat struct {
	cfg HeartbeatConfig

	mu    sync.Mutex
	runs  bool
	last  time.Time // the last renewal that has come through; zero: there was none
	since time.Time // since when none has been missed
}

// NewHeartbeat checks the configuration. Run begins the heartbeat.
func NewHeartbeat(cfg HeartbeatConfig) (*Heartbeat, error) {
	switch {
	case cfg.Leases == nil:
		return nil, errors.New("callwright: HeartbeatConfig.Leases is required")
	case cfg.Kind == "":
		return nil, errors.New("callwright: HeartbeatConfig.Kind is required")
	case cfg.Node == "":
		return nil, errors.New("callwright: HeartbeatConfig.Node is required")
	}
	if cfg.OnReturn == nil {
		cfg.OnReturn = func(context.Context) {}
	}
	if cfg.Clock == nil {
		cfg.Clock = SystemClock{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
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

// Beat renews the lease once, or acquires it. Run does so by itself; a service that must hold its lease before it begins
// anything beats before it has Run go on in a goroutine.
func (h *Heartbeat) Beat(ctx context.Context) {
	h.mu.Lock()
	h.runs = true
	h.mu.Unlock()
	now := h.cfg.Clock.Now()
	if err := h.acquire(ctx, now); err != nil {
		if ctx.Err() == nil {
			h.cfg.Logger.ErrorContext(ctx, "the node's lease cannot be renewed", "kind", h.cfg.Kind, "error", err)
		}
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

// acquire renews the lease, or takes it anew when it was never had or is lost.
func (h *Heartbeat) acquire(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, heartbeatPatience)
	defer cancel()
	leases, err := h.cfg.Leases.Renew(ctx, h.cfg.Kind, h.cfg.Node, now, now.Add(LeaseTTL))
	if err == nil && len(leases) == 0 {
		leases, err = h.cfg.Leases.Acquire(ctx, h.cfg.Kind, h.cfg.Node, []string{h.cfg.Node}, now, now.Add(LeaseTTL))
	}
	if err == nil && len(leases) == 0 {
		err = ErrConflict // another node holds a lease with this node's name
	}
	return err
}

func (h *Heartbeat) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatPatience)
	defer cancel()
	if err := h.cfg.Leases.Release(ctx, h.cfg.Kind, h.cfg.Node, []string{h.cfg.Node}); err != nil {
		h.cfg.Logger.WarnContext(ctx, "the node's lease is not released", "kind", h.cfg.Kind, "error", err)
	}
}

// Peers returns what is known of the nodes of this kind. ok is false while this node was out of contact in the last
// LeaseTTL, or has only begun: the others may not have been heard of either, and nothing of theirs may be taken away.
// Without a Run it is true.
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
		return Peers{}, false, Errorf(CodeInvalidState, "%d nodes live, more than can be told from dead ones", maxNodes)
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
		if now.Sub(lease.ExpiresAt) > forgetNodeAfter {
			err = errors.Join(err, h.cfg.Leases.Release(ctx, h.cfg.Kind, lease.Node, []string{lease.Key}))
		}
	}
	slices.Sort(peers.Alive)
	return peers, err == nil, err
}

// Held reports whether the node holds its lease, by its own clock. While it does not, others may take it for dead, and it
// should begin nothing.
func (h *Heartbeat) Held() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.last.IsZero() && h.cfg.Clock.Now().Sub(h.last) < LeaseTTL
}

// steady reports whether the others had the time to be heard of since this node was not.
func (h *Heartbeat) steady(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.runs || now.Sub(h.last) <= outOfContact && now.Sub(h.since) >= steadyAfter
}

// Peers is what a node knows of the nodes that do the same kind of work.
type Peers struct {
	Alive []string // the nodes that live, in order, this one included once it runs

	lastSeen map[string]time.Time
}

// LastSeen returns when a dead node last gave a sign of life; zero when nothing is known of it.
func (p Peers) LastSeen(node string) time.Time { return p.lastSeen[node] }
