package node

import (
	"context"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// LookEvery is the interval at which a Holder calls Claim and Stops.
const LookEvery = time.Second

// stopsPatience is the timeout of one call of Stops.
const stopsPatience = 5 * time.Second

// HolderConfig lists the ports and functions of a Holder. If Claim, Review or Stops fails repeatedly, the Holder logs only the beginning
// and the end of the series of errors.
type HolderConfig struct {
	Leases Leases `required:"always"`
	Kind   string `required:"always"` // kind of the node's lease, such as "call.node"
	Node   string `required:"always"` // name of this process, unique over all past and present processes of a deployment
	Most   int    // maximum number of held items; 0 means no limit

	// Claim looks for work and holds it. It is called when Run begins, every second, after Wake, and when an item of a full Holder has
	// ended, until the context of Run ends. It is nil if items are held in another way.
	Claim func(ctx context.Context) error
	// Refill requests a call of Claim after the end of any item, even if the Holder was not full.
	Refill bool
	// Review takes over the work of dead nodes: see Peers. It is called every LeaseRenewal until the context of Run ends, and never
	// concurrently with Claim. It may be nil.
	Review func(ctx context.Context) error
	// Stops returns the ids of the node's items that must be stopped. It is called every second for this node, and may return items that
	// have ended. It may be nil.
	Stops func(ctx context.Context, node string) ([]string, error)
	// OnReturn is called when the lease is renewed again after more than LeaseTTL without a renewal. Other nodes may meanwhile have
	// declared this node dead. It may be nil.
	OnReturn func(ctx context.Context)
	// Loops are called when Run begins, each in its own goroutine. Their context ends when no item is held any more and Drained has
	// returned.
	Loops []func(ctx context.Context)
	// Drained is called when the context of Run has ended and no item is held any more, before the lease is released. It may be nil.
	Drained func(ctx context.Context)

	Stopped  error         // cause of the contexts of the items that Stops returns
	Draining error         // cause of the contexts of the items that are still held after DrainFor
	DrainFor time.Duration // time for items to end after the end of Run's context; 0 stops them immediately

	callwright.Runtime
}

// Holder holds the work of one kind in this process, such as its live calls. Its Heartbeat reports that the process is alive. Each item has
// a context that ends when the item is stopped. When the process stops, the Holder drains. T is the domain's data of an item.
type Holder[T any] struct {
	cfg       HolderConfig
	heartbeat *Heartbeat
	wake      chan struct{} // contains a token if Claim must be called

	mu    sync.Mutex
	open  bool // Run has begun, and its context has not ended
	items map[string]item[T]
	ended sync.Cond // broadcasts when an item has ended
}

// item is the data of a held item, and the function that ends its context.
type item[T any] struct {
	value T
	stop  context.CancelCauseFunc
}

// NewHolder checks the configuration. Run starts the Holder.
func NewHolder[T any](c HolderConfig) (*Holder[T], error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	heart, err := NewHeartbeat(HeartbeatConfig{
		Leases: c.Leases, Kind: c.Kind, Node: c.Node, OnReturn: c.OnReturn, Runtime: c.Runtime,
	})
	h := &Holder[T]{cfg: c, heartbeat: heart, wake: make(chan struct{}, 1), items: map[string]item[T]{}}
	h.ended.L = &h.mu
	return h, err
}

// Run claims and holds work until ctx ends. It then holds no new items, waits up to DrainFor for the items to end, stops the others, and
// returns when all have ended. The node holds its lease until then. Run must be called at most once. The error is always nil.
func (h *Holder[T]) Run(ctx context.Context) error {
	holding, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	h.heartbeat.Beat(holding) // no work begins before other nodes can see that this node is alive
	h.mu.Lock()
	h.open = true
	h.mu.Unlock()
	var loops sync.WaitGroup
	loops.Go(func() { _ = h.heartbeat.Run(holding) })
	if h.cfg.Stops != nil {
		loops.Go(func() { h.stopLoop(holding) })
	}
	for _, loop := range h.cfg.Loops {
		loops.Go(func() { loop(holding) })
	}
	h.claimLoop(ctx)
	h.drain(holding)
	stop()
	loops.Wait()
	return nil
}

// claimLoop calls Claim and Review until ctx ends.
func (h *Holder[T]) claimLoop(ctx context.Context) {
	claim, review := time.NewTicker(LookEvery), time.NewTicker(LeaseRenewal)
	defer claim.Stop()
	defer review.Stop()
	var claiming, reviewing callwright.Outage
	for ctx.Err() == nil {
		h.try(ctx, &claiming, "cannot claim work", h.cfg.Claim)
		select {
		case <-ctx.Done():
		case <-h.wake:
		case <-claim.C:
		case <-review.C:
			h.try(ctx, &reviewing, "cannot review the work of dead nodes", h.cfg.Review)
		}
	}
}

// stopLoop calls Stops, and stops the items that it returns, until ctx ends.
func (h *Holder[T]) stopLoop(ctx context.Context) {
	ticker := time.NewTicker(LookEvery)
	defer ticker.Stop()
	var failing callwright.Outage
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		h.try(ctx, &failing, "cannot look for work to stop", func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, stopsPatience)
			defer cancel()
			ids, err := h.cfg.Stops(ctx, h.cfg.Node)
			for _, id := range ids {
				h.Stop(id, h.cfg.Stopped)
			}
			return err
		})
	}
}

// try calls f unless f is nil. It logs the beginning and the end of a series of failures, except for failures after the end of ctx.
func (h *Holder[T]) try(ctx context.Context, o *callwright.Outage, failure string, f func(context.Context) error) {
	if f == nil {
		return
	}
	if err := f(ctx); ctx.Err() == nil {
		o.Note(ctx, h.cfg.Logger, failure, err, "kind", h.cfg.Kind)
	}
}

// drain waits until all items have ended, and stops the remaining ones after DrainFor.
func (h *Holder[T]) drain(ctx context.Context) {
	h.mu.Lock()
	h.open = false
	h.mu.Unlock()
	late := time.AfterFunc(h.cfg.DrainFor, func() {
		if held := h.Len(); held > 0 {
			h.cfg.Logger.InfoContext(ctx, "stopping the work that is still held", "kind", h.cfg.Kind, "items", held)
		}
		h.StopWhere(h.cfg.Draining, func(string, T) bool { return true })
	})
	defer late.Stop()
	h.mu.Lock()
	for len(h.items) > 0 {
		h.ended.Wait()
	}
	h.mu.Unlock()
	if h.cfg.Drained != nil {
		h.cfg.Drained(ctx)
	}
}

// Slot is the right to work on an item on this node. Call either Go or Release, once.
type Slot struct {
	//nolint:containedctx // the life of an item, which outlives the request or the task that begins it
	ctx            context.Context
	release, ended func()
}

// Hold claims a slot for an item. The context of the item has the values of ctx, but not its end. Hold returns false if the Holder is full,
// already holds the item, or does not run.
func (h *Holder[T]) Hold(ctx context.Context, id string, value T) (*Slot, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, held := h.items[id]; held || !h.open || h.full() {
		return nil, false
	}
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	h.items[id] = item[T]{value, stop}
	return &Slot{ctx, func() { h.release(id) }, func() { h.end(id) }}, true
}

// Go calls f in a new goroutine, and releases the slot when f has returned. The context of f ends when the item is stopped.
func (s *Slot) Go(f func(ctx context.Context)) {
	go func() {
		defer s.ended()
		f(s.ctx)
	}()
}

// Release releases the slot of an item whose work has not begun, for example because its claim could not be stored. Unlike the end of Go,
// it does not cause a call of HolderConfig.Claim, which might fail again immediately.
func (s *Slot) Release() { s.release() }

// end releases the slot of an item that has ended. If the Holder was full or Refill is set, it causes a call of Claim.
func (h *Holder[T]) end(id string) {
	if full := h.release(id); full || h.cfg.Refill {
		h.Wake()
	}
}

// release releases a slot, and reports whether the Holder was full.
func (h *Holder[T]) release(id string) (wasFull bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	wasFull = h.full()
	h.items[id].stop(nil)
	delete(h.items, id)
	h.ended.Broadcast()
	return wasFull
}

// full reports whether the Holder holds as many items as Most allows. The caller must hold the lock.
func (h *Holder[T]) full() bool { return h.cfg.Most > 0 && len(h.items) >= h.cfg.Most }

// Wake causes a call of Claim as soon as possible.
func (h *Holder[T]) Wake() {
	select {
	case h.wake <- struct{}{}:
	default: // a call is already due
	}
}

// Stop ends the context of an item with the given cause. It does nothing if the item is not held here.
func (h *Holder[T]) Stop(id string, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i, held := h.items[id]; held {
		i.stop(cause)
	}
}

// StopWhere calls the given function for each held item. If the function returns true, StopWhere ends the item's context with the cause.
func (h *Holder[T]) StopWhere(cause error, which func(id string, value T) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, i := range h.items {
		if which(id, i.value) {
			i.stop(cause)
		}
	}
}

// Holds reports whether this Holder holds an item.
func (h *Holder[T]) Holds(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, held := h.items[id]
	return held
}

// All returns the data of all held items by their ids.
func (h *Holder[T]) All() map[string]T {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make(map[string]T, len(h.items))
	for id, i := range h.items {
		all[id] = i.value
	}
	return all
}

// Len returns the number of held items.
func (h *Holder[T]) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.items)
}

// Free returns how many more items the Holder may hold. It returns 0 while the node does not hold its lease, because other nodes may
// declare the node dead, and if Most is not set.
func (h *Holder[T]) Free() int {
	if !h.Leased() {
		return 0
	}
	return max(0, h.cfg.Most-h.Len())
}

// Leased reports whether the node holds its lease: see Heartbeat.Held.
func (h *Holder[T]) Leased() bool { return h.heartbeat.Held() }

// Peers returns which nodes of this kind are alive. See Heartbeat.Peers for ok and err.
func (h *Holder[T]) Peers(ctx context.Context) (peers Peers, ok bool, err error) {
	return h.heartbeat.Peers(ctx)
}
