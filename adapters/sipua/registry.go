package sipua

import (
	"net/netip"
	"sync"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/leg"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
)

// registry counts calls against their limits and finds them by their dialogs. It is safe for concurrent use.
type registry struct {
	maxCalls     int // both directions together
	maxPerSource int // inbound calls

	mu       sync.Mutex
	legs     map[dialogKey]entry
	invites  map[inviteKey]struct{} // of inbound calls, while they live
	slots    int                    // taken by calls, also by those without a dialog yet
	from     map[netip.Addr]int     // the slots of inbound calls, by source
	logs     int                    // attempts whose end the observer has not heard of
	draining bool
	closed   bool
	idle     chan struct{} // closed while draining, when no slot is taken and no log is open
}

func newRegistry(maxCalls, maxPerSource int) *registry {
	return &registry{
		maxCalls: maxCalls, maxPerSource: maxPerSource, legs: map[dialogKey]entry{}, invites: map[inviteKey]struct{}{},
		from: map[netip.Addr]int{}, idle: make(chan struct{}),
	}
}

// entry is a leg. caller is the caller's connection that it came over; zero for a connection of ours.
type entry struct {
	leg    *leg.Leg
	caller netip.AddrPort
}

// dialogKey identifies the dialog of a request: our tag is in its To header.
type dialogKey struct{ callID, localTag string }

func keyOf(id message.Identity) dialogKey { return dialogKey{id.CallID, id.LocalTag} }

// inviteKey identifies an INVITE, whichever way it has taken through forking proxies (RFC 3261, 8.2.2.2).
type inviteKey struct {
	callID, fromTag string
	cseq            uint32
}

func inviteKeyOf(req *sip.Request) inviteKey {
	return inviteKey{req.CallID().Value(), message.Tag(req.From().Params), req.CSeq().SeqNo}
}

// reserve takes a slot for a call. It returns false while draining, and at the limit.
func (r *registry) reserve() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reserveLocked()
}

func (r *registry) reserveLocked() bool {
	if r.draining || r.slots >= r.maxCalls {
		return false
	}
	r.slots++
	return true
}

// release frees a call's slot.
func (r *registry) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.releaseLocked()
}

func (r *registry) releaseLocked() {
	r.slots--
	r.finish()
}

// reserveFrom takes a slot for an inbound call.
func (r *registry) reserveFrom(a netip.Addr) bool {
	a = callwright.Source(a)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from[a] >= r.maxPerSource || !r.reserveLocked() {
		return false
	}
	r.from[a]++
	return true
}

// releaseFrom frees an inbound call's slot.
func (r *registry) releaseFrom(a netip.Addr) {
	a = callwright.Source(a)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from[a]--; r.from[a] == 0 {
		delete(r.from, a)
	}
	r.releaseLocked()
}

// openLog and closeLog count the reports that the observer has not received yet.
func (r *registry) openLog() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs++
}

func (r *registry) closeLog() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs--
	r.finish()
}

// finish closes idle when nothing is left. The mutex is held.
func (r *registry) finish() {
	if !r.draining || r.slots > 0 || r.logs > 0 {
		return
	}
	select {
	case <-r.idle: // closed before a call that was refused while draining
	default:
		close(r.idle)
	}
}

// count returns the number of taken slots.
func (r *registry) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.slots
}

// claim records that an INVITE is being handled. It returns false when another copy of it is.
func (r *registry) claim(k inviteKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, taken := r.invites[k]
	if !taken {
		r.invites[k] = struct{}{}
	}
	return !taken
}

func (r *registry) disclaim(k inviteKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.invites, k)
}

// add makes a leg findable by its dialog. It returns false once the registry is closed.
func (r *registry) add(k dialogKey, e entry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.legs[k] = e
	return true
}

// moved records that the peer of a leg sends over a caller's connection now; zero: over one of ours.
func (r *registry) moved(k dialogKey, caller netip.AddrPort) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.legs[k]; ok {
		e.caller = caller
		r.legs[k] = e
	}
}

func (r *registry) deleteDialog(k dialogKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.legs, k)
}

// find returns the leg of a dialog; nil without one.
func (r *registry) find(k dialogKey) *leg.Leg {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.legs[k].leg
}

// carries reports whether a caller's connection carries a call.
func (r *registry) carries(caller netip.AddrPort) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.legs {
		if e.caller == caller {
			return true
		}
	}
	return false
}

// drain refuses new calls from now on.
func (r *registry) drain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.draining {
		r.draining = true
		r.finish()
	}
}

func (r *registry) isDraining() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.draining
}

// whileOpen calls f unless the registry is closed, and reports whether it has.
func (r *registry) whileOpen(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		f()
	}
	return !r.closed
}

// close drains and refuses new legs. It returns the legs that are left, and whether it was called first.
func (r *registry) close() (left []*leg.Leg, first bool) {
	r.drain()
	r.mu.Lock()
	defer r.mu.Unlock()
	first, r.closed = !r.closed, true
	for _, e := range r.legs {
		left = append(left, e.leg)
	}
	return left, first
}
