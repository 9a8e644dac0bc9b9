package source

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/callwright/callwright"
)

// The limits that the configuration does not change.
const (
	maxRefused = 20               // refused calls per minute, at which the source is blocked
	maxFaulty  = 100              // other refused requests per minute, at which the source is blocked
	blockTime  = 10 * time.Minute // duration of a block
	maxSources = 10_000           // maximum number of stored sources
	maxLookups = 16               // concurrent route lookups of one source

	logEvery  = time.Minute // minimum interval of log lines about one source
	logRate   = 1           // log lines per second about all sources
	logAtOnce = 30

	requestsPerInvite = 8 // limit of all requests for each allowed INVITE, such as its ACK and BYE
	minRequests       = 100
)

// Limiter counts the requests of sources and enforces their limits. It is safe for concurrent use.
type Limiter struct {
	rate     rate.Limit // INVITEs per second, and OPTIONS per second
	burst    int        // INVITEs in a burst, OPTIONS in a burst, and concurrent INVITEs in admission
	requests int        // requests of any kind, per second and in a burst
	now      func() time.Time
	lines    *rate.Limiter // limits the lines of the log

	trusted func(netip.Addr) bool

	mu     sync.Mutex
	known  map[netip.Addr]*source
	behind map[side]*rate.Limiter // limit the refused calls behind trusted sources
	proofs map[prover]proof       // proofs of callers behind trusted sources
}

type source struct {
	served   share             // limits INVITEs, except those that the share unserved limits
	unserved share             // limits INVITEs to unserved numbers behind a trusted source
	probes   *rate.Limiter     // limits OPTIONS
	requests *rate.Limiter     // limits requests of any kind
	refused  window            // refused calls
	faulty   window            // other refused requests
	wrong    map[string]window // wrong credentials, by trunk id
	unlogged int               // refused calls since the last log line
	logged   time.Time         // time of the last log line
	admitted time.Time         // time of the last admitted call
	blocked  time.Time         // end of the block
	seen     time.Time
}

// share holds the rate limiter and the counts for INVITEs of a source.
type share struct {
	pace    *rate.Limiter
	lookups chan struct{} // semaphore of the running route lookups
	pending int           // number of INVITEs in admission
}

func (l *Limiter) newShare() share {
	return share{pace: rate.NewLimiter(l.rate, l.burst), lookups: make(chan struct{}, maxLookups)}
}

// window counts the events within a minute of the first one.
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

// NewLimiter returns a limiter that allows each source perSecond INVITEs per second, with bursts of twice as many, and as many OPTIONS. It
// never blocks a source for which trusted returns true, but holds the callers and numbers behind that source. The limiter stores no result
// of trusted, so that the result may change. If trusted is nil, no source is trusted.
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

// of returns the state of an address's source, and adds it if it is not stored. The caller must hold the mutex.
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

// evict deletes, among about 32 random sources without INVITEs in admission, the least recently seen one, preferably one without an
// admitted call. Go iterates over a map in random order.
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

// before reports whether s must be deleted before other.
func (s *source) before(other *source) bool {
	if s.admitted.IsZero() != other.admitted.IsZero() {
		return s.admitted.IsZero()
	}
	return s.seen.Before(other.seen)
}

// Wait waits until a source may send another request of any kind, or ctx ends.
func (l *Limiter) Wait(ctx context.Context, a netip.Addr) {
	l.mu.Lock()
	pace := l.of(a).requests
	l.mu.Unlock()
	_ = pace.Wait(ctx) // fails only when ctx ends
}

// Probe counts an OPTIONS of a source, and reports whether the rate limit allows it.
func (l *Limiter) Probe(a netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of(a).probes.AllowN(l.now(), 1)
}

// Entry is an INVITE in admission. Lookups is the semaphore of its source's route lookups.
type Entry struct {
	Lookups chan struct{}
	share   *share
}

// Enter counts an INVITE in admission. ok is false if the source sends too many. Each successful Enter requires a Leave. served reports
// whether this server serves the called number. Behind a trusted source, calls to unserved numbers have separate limits, so that they do
// not use up the limits of the served numbers.
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

// Leave ends the admission of the INVITE that Enter counted.
func (l *Limiter) Leave(e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.share.pending--
}

// Admitted records an admitted call of a source and resets the source's counts of refused requests. Such a source is a carrier, and refused
// calls of some customers must not block a carrier.
func (l *Limiter) Admitted(a netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.of(a)
	known.admitted, known.refused, known.faulty = l.now(), window{}, window{}
}

// Known reports whether a call from a source has been admitted.
func (l *Limiter) Known(a netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.known[callwright.Source(a)]
	return known != nil && !known.admitted.IsZero()
}

// Refused counts a refused call. After too many refused calls it blocks their source, unless a call from the source was admitted recently.
// It reports whether it has blocked the source. Behind a trusted source the call counts only against its sides.
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

// Faulty counts a refused request other than a call, and otherwise does the same as Refused. It ignores requests of trusted sources.
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

// Log counts a refused call for the log. It reports whether a log line is due, and how many of the source's calls were refused since its
// last line. There is at most one line per minute for a source, and about one per second for all.
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

// block blocks a source with too many refused requests and without a recently admitted call, and reports whether it did. The caller must
// hold the mutex.
func (l *Limiter) block(s *source) bool {
	now := l.now()
	if s.refused.count(now) < maxRefused && s.faulty.count(now) < maxFaulty || now.Sub(s.admitted) < blockTime || now.Before(s.blocked) {
		return false
	}
	s.blocked = now.Add(blockTime)
	return true
}

// Blocked reports whether requests of a source must be ignored. It returns false for a trusted source.
func (l *Limiter) Blocked(a netip.Addr) bool {
	return l.isBlocked(a) && !l.trusted(a)
}

func (l *Limiter) isBlocked(a netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.known[callwright.Source(a)]
	return known != nil && l.now().Before(known.blocked)
}
