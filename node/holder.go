package node

import (
	"context"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// LookEvery is the interval at which a Holder looks for work of other nodes, and for items that they have marked to stop.
const LookEvery = time.Second

// stopsPatience bounds one look for items to stop.
const stopsPatience = 5 * time.Second

// HolderConfig configures a Holder. The errors of its functions are logged when they begin and when they are over.
type HolderConfig struct {
	Leases Leases `required:"always"`
	Kind   string `required:"always"` // of the node's lease, such as "call.node"
	Node   string `required:"always"` // names this process; every process of a deployment, past or present, has another name
	Most   int    // concurrently held items; 0: no bound

	// Claim looks for work and holds it. It is called when Run begins, every second, after Wake, and when an item of a full Holder
	// has ended, until the context of Run ends. nil: work comes in another way.
	Claim func(ctx context.Context) error
	// Refill calls Claim when any item has ended.
	Refill bool
	// Review takes over the work of dead nodes: see Peers. It is called every LeaseRenewal, never beside Claim, until the context
	// of Run ends. nil: not called.
	Review func(ctx context.Context) error
	// Stops returns the ids of items of a node that are to be stopped. It is called every second for this node, and may return items
	// that have ended. nil: not called.
	Stops func(ctx context.Context, node string) ([]string, error)
	// OnReturn is called after a gap in which other nodes may have declared this one dead. nil: not called.
	OnReturn func(ctx context.Context)
	// Loops run until nothing is held any more. Their context ends then.
	Loops []func(ctx context.Context)
	// Drained is called when Run has ended and nothing is held any more, before the lease is released. nil: not called.
	Drained func(ctx context.Context)

	Stopped  error         // the cause of the contexts of items that Stops returns
	Draining error         // the cause of the contexts of items that are still held DrainFor after the end of Run's context
	DrainFor time.Duration // 0: they are stopped immediately

	callwright.Runtime
}

// Holder holds the work of one kind that this process does, such as its live calls. Its Heartbeat reports that the process is
// alive. It has a context for each item, which stops the item, and drains when the process stops. T is the domain's data of an
// item.
type Holder[T any] struct {
	cfg       HolderConfig
	heartbeat *Heartbeat
	wake      chan struct{} // holds a token when there may be work to claim

	mu    sync.Mutex
	open  bool // Run has begun, and its context has not ended
	items map[string]item[T]
	ended sync.Cond // broadcasts when an item has ended
}

// item is an item with its cancel function.
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

// Run claims and holds work until ctx ends. Then it holds nothing new, gives the items DrainFor to end before it stops them, and waits
// until all have ended. The node keeps its lease until then. Run must not be called twice. The error is always nil.
func (h *Holder[T]) Run(ctx context.Context) error {
	holding, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	h.heartbeat.Beat(holding) // nothing begins before other nodes know that this one is alive
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

// claimLoop claims and reviews until ctx ends.
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

// stopLoop stops the items that Stops returns until ctx ends.
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

// try calls f, and logs when it begins to fail and when that is over, unless it has failed because ctx has ended.
func (h *Holder[T]) try(ctx context.Context, o *callwright.Outage, failure string, f func(context.Context) error) {
	if f == nil {
		return
	}
	if err := f(ctx); ctx.Err() == nil {
		o.Note(ctx, h.cfg.Logger, failure, err, "kind", h.cfg.Kind)
	}
}

// drain waits until all items have ended, and stops them after DrainFor.
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

// Hold claims a slot for an item, with the values of ctx but not with its end. It returns false when the Holder is full, has the item
// already, or does not run.
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

// Go works on the item in a new goroutine, and releases the slot at the end. The context of f ends when the item is stopped.
func (s *Slot) Go(f func(ctx context.Context)) {
	go func() {
		defer s.ended()
		f(s.ctx)
	}()
}

// Release frees the slot of an item whose work has not begun, for example when its claim could not be stored. It does not cause a
// call of HolderConfig.Claim, which might fail again immediately. The end of Go does.
func (s *Slot) Release() { s.release() }

// end releases the slot of an item that has ended, and has Claim called.
func (h *Holder[T]) end(id string) {
	if full := h.release(id); full || h.cfg.Refill {
		h.Wake()
	}
}

// release releases a slot, and reports whether it was the last one.
func (h *Holder[T]) release(id string) (wasFull bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	wasFull = h.full()
	h.items[id].stop(nil)
	delete(h.items, id)
	h.ended.Broadcast()
	return wasFull
}

// full reports whether the Holder has as many items as it may. The caller holds the lock.
func (h *Holder[T]) full() bool { return h.cfg.Most > 0 && len(h.items) >= h.cfg.Most }

// Wake has Claim called soon.
func (h *Holder[T]) Wake() {
	select {
	case h.wake <- struct{}{}:
	default: // it has not been called since the last time
	}
}

// Stop ends the context of an item with a cause, if the item is held here.
func (h *Holder[T]) Stop(id string, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i, held := h.items[id]; held {
		i.stop(cause)
	}
}

// StopWhere ends the contexts of the items that which selects, with a cause.
func (h *Holder[T]) StopWhere(cause error, which func(id string, value T) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, i := range h.items {
		if which(id, i.value) {
			i.stop(cause)
		}
	}
}

// Holds reports whether an item is held here.
func (h *Holder[T]) Holds(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, held := h.items[id]
	return held
}

// All returns the domain's data of each held item, by its id.
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

// Free returns the number of further items that may be held, if Most is set: 0 while the node does not hold its lease, because
// other nodes may declare it dead.
func (h *Holder[T]) Free() int {
	if !h.Leased() {
		return 0
	}
	return max(0, h.cfg.Most-h.Len())
}

// Leased reports whether the node holds its lease: see Heartbeat.Held.
func (h *Holder[T]) Leased() bool { return h.heartbeat.Held() }

// Peers returns which nodes of this kind are alive: see Heartbeat.Peers.
func (h *Holder[T]) Peers(ctx context.Context) (peers Peers, ok bool, err error) {
	return h.heartbeat.Peers(ctx)
}
