package sipua

import (
	"net/netip"
	"sync"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/leg"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
)

// registry counts the calls against their limits, and finds legs by their dialogs. It is safe for concurrent use.
type registry struct {
	maxCalls     int // in both directions together
	maxPerSource int // inbound calls only

	mu       sync.Mutex
	legs     map[dialogKey]entry
	invites  map[inviteKey]struct{} // of the inbound calls that have not ended
	slots    int                    // reserved by calls, including those without a dialog
	from     map[netip.Addr]int     // slots of inbound calls by source
	logs     int                    // attempts whose end the observer has not yet received
	draining bool
	closed   bool
	idle     chan struct{} // closed when draining and both slots and logs are 0
}

func newRegistry(maxCalls, maxPerSource int) *registry {
	return &registry{
		maxCalls: maxCalls, maxPerSource: maxPerSource, legs: map[dialogKey]entry{}, invites: map[inviteKey]struct{}{},
		from: map[netip.Addr]int{}, idle: make(chan struct{}),
	}
}

// entry holds a leg and the caller's connection that it uses. caller is zero if the leg uses an outbound connection.
type entry struct {
	leg    *leg.Leg
	caller netip.AddrPort
}

// dialogKey identifies a dialog by its Call-ID and our tag. A request of the peer contains our tag in the To header.
type dialogKey struct{ callID, localTag string }

func keyOf(id message.Identity) dialogKey { return dialogKey{id.CallID, id.LocalTag} }

// inviteKey identifies an INVITE regardless of the path that it has taken through forking proxies (RFC 3261, 8.2.2.2).
type inviteKey struct {
	callID, fromTag string
	cseq            uint32
}

func inviteKeyOf(req *sip.Request) inviteKey {
	return inviteKey{req.CallID().Value(), message.Tag(req.From().Params), req.CSeq().SeqNo}
}

// reserve reserves a slot for a call. It returns false while draining and at the limit.
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

// release releases the slot that reserve reserved.
func (r *registry) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.releaseLocked()
}

func (r *registry) releaseLocked() {
	r.slots--
	r.finish()
}

// reserveFrom reserves a slot for an inbound call. It returns false while draining, at the limit, and at the limit of the source.
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

// releaseFrom releases the slot that reserveFrom reserved.
func (r *registry) releaseFrom(a netip.Addr) {
	a = callwright.Source(a)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from[a]--; r.from[a] == 0 {
		delete(r.from, a)
	}
	r.releaseLocked()
}

// openLog counts an attempt that is reported to the observer. closeLog subtracts the attempt again, after the observer has received its
// end.
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

// finish closes idle if the registry is draining and no slot and no log is left. The caller must hold the mutex.
func (r *registry) finish() {
	if !r.draining || r.slots > 0 || r.logs > 0 {
		return
	}
	select {
	case <-r.idle: // already closed: the attempt of a refused call has ended later
	default:
		close(r.idle)
	}
}

// count returns the number of reserved slots.
func (r *registry) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.slots
}

// claim records that an INVITE is being handled. It returns false if another copy of the INVITE is already being handled.
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

// add adds a leg, so that find returns it for its dialog. It returns false if the registry is closed.
func (r *registry) add(k dialogKey, e entry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.legs[k] = e
	return true
}

// moved records the caller's connection that the peer of a leg now uses. A zero caller means an outbound connection.
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

// find returns the leg of a dialog, or nil if there is none.
func (r *registry) find(k dialogKey) *leg.Leg {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.legs[k].leg
}

// carries reports whether any leg uses a caller's connection.
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

// drain makes reserve and reserveFrom refuse new calls from now on.
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

// whileOpen calls f unless the registry is closed, and reports whether it called f. close waits until f returns.
func (r *registry) whileOpen(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		f()
	}
	return !r.closed
}

// close drains the registry and makes add refuse new legs. It returns the remaining legs, and whether this is the first call of close.
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
