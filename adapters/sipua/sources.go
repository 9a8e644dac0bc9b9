package sipua

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// What a source may do before it is taken for a scanner.
const (
	maxRefused = 20               // a minute; then it is not answered any more
	maxWrong   = 3                // answers to a trunk's challenges a minute; then it is a stranger to that trunk
	barTime    = 10 * time.Minute // how long it is not answered
	maxSources = 10_000           // that are remembered
)

// sources is what is known of those who call us, by address.
type sources struct {
	rate  rate.Limit // INVITEs a second
	burst int        // at once, and waiting for their admission at a time
	now   func() time.Time

	mu    sync.Mutex
	known map[netip.Addr]*source
}

type source struct {
	pace     *rate.Limiter
	turns    chan struct{}     // holds one for each look-up of a route that is under way
	waiting  int               // INVITEs that are not admitted yet
	refused  window            // INVITEs that had no right to come
	wrong    map[string]window // answers to challenges, by trunk
	admitted time.Time         // the last call that had
	barred   time.Time         // until then
	seen     time.Time
}

// window counts what happens within a minute.
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

func newSources(perSecond int, now func() time.Time) *sources {
	return &sources{rate: rate.Limit(perSecond), burst: 2 * perSecond, now: now, known: map[netip.Addr]*source{}}
}

// sourceOf is whom an address belongs to: an IPv6 network is one customer's as a single IPv4 address is.
func sourceOf(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if a.Is6() {
		if network, err := a.Prefix(64); err == nil {
			return network.Addr()
		}
	}
	return a
}

// of finds a source, or begins to know it. The mutex is held.
func (s *sources) of(a netip.Addr) *source {
	a = sourceOf(a)
	known := s.known[a]
	if known == nil {
		if len(s.known) >= maxSources {
			s.evict()
		}
		known = &source{pace: rate.NewLimiter(s.rate, s.burst), turns: make(chan struct{}, maxFromOne)}
		s.known[a] = known
	}
	known.seen = s.now()
	return known
}

// evict makes room: the longest unseen of a few goes, as a map gives them in any order.
func (s *sources) evict() {
	const few = 32
	var oldest netip.Addr
	looked := 0
	for a, known := range s.known {
		if known.waiting == 0 && (!oldest.IsValid() || known.seen.Before(s.known[oldest].seen)) {
			oldest = a
		}
		if looked++; looked >= few && oldest.IsValid() {
			break
		}
	}
	delete(s.known, oldest)
}

// enter lets an INVITE wait for its admission, and gives what its source's INVITEs take turns in; nil when the source
// sends too many. Each needs a leave.
func (s *sources) enter(a netip.Addr) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.of(a)
	if known.waiting >= s.burst || !known.pace.AllowN(s.now(), 1) {
		return nil
	}
	known.waiting++
	return known.turns
}

func (s *sources) leave(a netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(a).waiting--
}

// admit counts a call that may come in. Who sends such calls is a carrier, and serves others than those he has wrong.
func (s *sources) admit(a netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.of(a)
	known.admitted, known.refused = s.now(), window{}
}

// refuse counts a call that may not, and says no more to a source that has nothing else to offer.
func (s *sources) refuse(a netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, now := s.of(a), s.now()
	known.refused = known.refused.add(now)
	if known.refused.n >= maxRefused && now.Sub(known.admitted) >= barTime {
		known.barred = now.Add(barTime)
	}
}

// barred says whether a source is not to be answered.
func (s *sources) barred(a netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[sourceOf(a)]
	return known != nil && s.now().Before(known.barred)
}

// mistaken counts a wrong answer to a trunk's challenge.
func (s *sources) mistaken(a netip.Addr, trunkID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, now := s.of(a), s.now()
	if known.wrong == nil {
		known.wrong = map[string]window{}
	}
	for id, w := range known.wrong {
		if w.count(now) == 0 {
			delete(known.wrong, id)
		}
	}
	known.wrong[trunkID] = known.wrong[trunkID].add(now)
}

// mistrusted says whether a source has answered a trunk's challenges wrongly too often to be asked again.
func (s *sources) mistrusted(a netip.Addr, trunkID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[sourceOf(a)]
	return known != nil && known.wrong[trunkID].count(s.now()) >= maxWrong
}
