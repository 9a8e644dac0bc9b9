package source

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/callwright/callwright"
)

// The limits that do not depend on configuration.
const (
	maxRefused = 20               // refused calls a minute; then the source is blocked
	maxFaulty  = 100              // other refused requests a minute; then the source is blocked
	blockTime  = 10 * time.Minute // duration of a block
	maxSources = 10_000           // that are remembered
	maxLookups = 16               // route look-ups of one source at a time

	logEvery  = time.Minute // between two lines of one source in the log
	logRate   = 1           // lines a second, of all sources
	logAtOnce = 30

	requestsPerInvite = 8 // paces all requests: the ACK, the BYE and other requests of a call
	minRequests       = 100
)

// Limiter counts the actions of sources. It is safe for concurrent use.
type Limiter struct {
	rate     rate.Limit // INVITEs a second, and likewise OPTIONS
	burst    int        // burst of INVITEs, and INVITEs in admission at a time
	requests int        // requests of all kinds, per second and as a burst
	now      func() time.Time
	lines    *rate.Limiter // of the log

	trusted func(netip.Addr) bool

	mu     sync.Mutex
	known  map[netip.Addr]*source
	behind map[side]*rate.Limiter // refused calls behind trusted sources
	proofs map[prover]proof       // credentials of callers behind trusted sources
}

type source struct {
	served   share             // of INVITEs, those to unserved numbers behind a trusted source apart
	unserved share             // of the latter
	probes   *rate.Limiter     // of OPTIONS
	requests *rate.Limiter     // of all requests
	refused  window            // refused calls
	faulty   window            // other refused requests
	wrong    map[string]window // wrong credentials, by trunk
	unlogged int               // refused calls that the log has not counted
	logged   time.Time         // when the log had the last line about refused calls
	admitted time.Time         // when a call was admitted last
	blocked  time.Time         // until when
	seen     time.Time
}

// share holds the limits of the INVITEs of a source.
type share struct {
	pace    *rate.Limiter
	lookups chan struct{} // a semaphore: holds one value for each route look-up that runs
	pending int           // INVITEs in admission
}

func (l *Limiter) newShare() share {
	return share{pace: rate.NewLimiter(l.rate, l.burst), lookups: make(chan struct{}, maxLookups)}
}

// window counts events within a minute.
type window struct {
	since time.Time
	n     int
}

func (w window) count(now time.Time) int {
	if now.Sub(w.since) >= time.Minute {
		return 0
	}
	return w.n
}

func (w window) add(now time.Time) window {
	if w.count(now) == 0 {
		return window{since: now, n: 1}
	}
	w.n++
	return w
}

// NewLimiter returns a limiter that lets each source send perSecond INVITEs a second, and a burst of twice as many. OPTIONS have
// the same limit. A source that is trusted is never blocked: the callers and numbers behind it are held instead. nil trusts none.
// The limiter asks again each time, so that trust may come and go.
func NewLimiter(perSecond int, trusted func(netip.Addr) bool, now func() time.Time) *Limiter {
	if trusted == nil {
		trusted = func(netip.Addr) bool { return false }
	}
	return &Limiter{
		rate: rate.Limit(perSecond), burst: 2 * perSecond, requests: max(requestsPerInvite*perSecond, minRequests), now: now,
		lines: rate.NewLimiter(logRate, logAtOnce), known: map[netip.Addr]*source{},
		trusted: trusted, behind: map[side]*rate.Limiter{}, proofs: map[prover]proof{},
	}
}

// of returns an address's source, and adds a new one. The mutex is held.
func (l *Limiter) of(a netip.Addr) *source {
	a = callwright.Source(a)
	known := l.known[a]
	if known == nil {
		if len(l.known) >= maxSources {
			l.evict()
		}
		known = &source{
			served: l.newShare(), unserved: l.newShare(), probes: rate.NewLimiter(l.rate, l.burst),
			requests: rate.NewLimiter(rate.Limit(l.requests), l.requests),
		}
		l.known[a] = known
	}
	known.seen = l.now()
	return known
}

// evict deletes the least recently seen of a few sources, preferably one without an admitted call: a map gives them in random
// order.
func (l *Limiter) evict() {
	const few = 32
	var oldest netip.Addr
	looked := 0
	for a, known := range l.known {
		if known.served.pending+known.unserved.pending == 0 && (!oldest.IsValid() || known.before(l.known[oldest])) {
			oldest = a
		}
		if looked++; looked >= few && oldest.IsValid() {
			break
		}
	}
	delete(l.known, oldest)
}

// before reports whether a source is deleted before another one.
func (s *source) before(other *source) bool {
	if s.admitted.IsZero() != other.admitted.IsZero() {
		return s.admitted.IsZero()
	}
	return s.seen.Before(other.seen)
}

// Wait waits until a source may send one more request of any kind, or ctx ends.
func (l *Limiter) Wait(ctx context.Context, a netip.Addr) {
	l.mu.Lock()
	pace := l.of(a).requests
	l.mu.Unlock()
	_ = pace.Wait(ctx) // it fails when ctx ends
}

// Probe reports whether a source may send one more OPTIONS.
func (l *Limiter) Probe(a netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of(a).probes.AllowN(l.now(), 1)
}

// Entry is an INVITE in admission. Its Lookups are the semaphore of route look-ups.
type Entry struct {
	Lookups chan struct{}
	share   *share
}

// Enter counts an INVITE in admission; ok is false when the source sends too many. Each successful Enter needs a Leave. served says
// whether this server serves the called number: behind a trusted source calls to other numbers have a share of their own, so
// that they do not use up the share of the served numbers.
func (l *Limiter) Enter(a netip.Addr, served bool) (e Entry, ok bool) {
	apart := !served && l.trusted(a)
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.of(a)
	s := &known.served
	if apart {
		s = &known.unserved
	}
	if s.pending >= l.burst || !s.pace.AllowN(l.now(), 1) {
		return Entry{}, false
	}
	s.pending++
	return Entry{Lookups: s.lookups, share: s}, true
}

// Leave ends the admission of an INVITE.
func (l *Limiter) Leave(e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.share.pending--
}

// Admitted records an admitted call. Its source is a carrier, which the refused calls of some of its customers must not
// block.
func (l *Limiter) Admitted(a netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.of(a)
	known.admitted, known.refused, known.faulty = l.now(), window{}, window{}
}

// Known reports whether a call of a source has been admitted.
func (l *Limiter) Known(a netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.known[callwright.Source(a)]
	return known != nil && !known.admitted.IsZero()
}

// Refused records a refused call, and blocks a source that sends nothing else. It reports whether the source is blocked
// from now on. Behind a trusted source the call counts to its sides.
func (l *Limiter) Refused(a netip.Addr, s Sides) bool {
	trusted := l.trusted(a)
	l.mu.Lock()
	defer l.mu.Unlock()
	if trusted {
		l.charge(a, s)
		return false
	}
	known := l.of(a)
	known.refused = known.refused.add(l.now())
	return l.block(known)
}

// Faulty is Refused for any other request. Requests of trusted sources do not count.
func (l *Limiter) Faulty(a netip.Addr) bool {
	if l.trusted(a) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.of(a)
	known.faulty = known.faulty.add(l.now())
	return l.block(known)
}

// Log counts a refused call for the log. It reports whether a line is due, and the number of the source's calls that have been refused
// since the line before: each source has a line a minute, and all together have a line a second.
func (l *Limiter) Log(a netip.Addr) (refused int, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, now := l.of(a), l.now()
	known.unlogged++
	if !known.logged.IsZero() && now.Sub(known.logged) < logEvery || !l.lines.AllowN(now, 1) {
		return 0, false
	}
	refused, known.unlogged, known.logged = known.unlogged, 0, now
	return refused, true
}

// block blocks a source that has been refused too often and has no recently admitted call. The mutex is held.
func (l *Limiter) block(s *source) bool {
	now := l.now()
	if s.refused.n < maxRefused && s.faulty.n < maxFaulty || now.Sub(s.admitted) < blockTime || now.Before(s.blocked) {
		return false
	}
	s.blocked = now.Add(blockTime)
	return true
}

// Blocked reports whether a source gets no answers. A source that has become trusted gets them.
func (l *Limiter) Blocked(a netip.Addr) bool {
	return l.isBlocked(a) && !l.trusted(a)
}

func (l *Limiter) isBlocked(a netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.known[callwright.Source(a)]
	return known != nil && l.now().Before(known.blocked)
}
