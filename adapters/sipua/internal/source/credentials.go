package source

import (
	"net/netip"
	"time"

	"github.com/callwright/callwright"
)

// The limits of wrong credentials, which are counted separately for each trunk.
const (
	maxWrong       = 3         // per minute, from a source, or from a caller behind a trusted source
	maxWrongBehind = 60        // per minute, from all callers behind a trusted source
	provenFor      = time.Hour // duration for which correct credentials exempt a caller from maxWrongBehind
	maxProofs      = 10_000    // maximum number of stored callers behind trusted sources
)

// prover identifies a caller behind a trusted source that sends credentials for a trunk.
type prover struct {
	source          netip.Addr
	trunkID, caller string
}

// proof records a caller's wrong credentials, and when the caller's credentials were last correct.
type proof struct {
	wrong  window
	proven time.Time // when the credentials were last correct
	seen   time.Time
}

// WrongCredentials counts wrong credentials for a trunk against their source. Behind a trusted source they also count against the caller
// (see Sides).
func (l *Limiter) WrongCredentials(a netip.Addr, trunkID, caller string) {
	trusted := l.trusted(a)
	l.mu.Lock()
	defer l.mu.Unlock()
	known, now := l.of(a), l.now()
	if known.wrong == nil {
		known.wrong = map[string]window{}
	}
	for id, w := range known.wrong {
		if w.count(now) == 0 {
			delete(known.wrong, id)
		}
	}
	known.wrong[trunkID] = known.wrong[trunkID].add(now)
	if trusted && caller != "" {
		l.prove(a, trunkID, caller, func(p *proof) { p.wrong = p.wrong.add(now) })
	}
}

// RightCredentials records correct credentials for a trunk. Behind a trusted source, wrong credentials of other callers then do not affect
// this caller for an hour. For other sources it does nothing.
func (l *Limiter) RightCredentials(a netip.Addr, trunkID, caller string) {
	if caller == "" || !l.trusted(a) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prove(a, trunkID, caller, func(p *proof) { p.proven = l.now() })
}

// Distrusted reports whether credentials for a trunk must be refused without a check, because too many were wrong. It counts the wrong
// credentials of a source that is not trusted. Behind a trusted source it counts the wrong credentials of the caller. A caller without
// correct credentials within the last hour is also refused after too many wrong credentials of all callers together.
func (l *Limiter) Distrusted(a netip.Addr, trunkID, caller string) bool {
	trusted := l.trusted(a)
	l.mu.Lock()
	defer l.mu.Unlock()
	now, wrong := l.now(), 0
	if known := l.known[callwright.Source(a)]; known != nil {
		wrong = known.wrong[trunkID].count(now)
	}
	if !trusted {
		return wrong >= maxWrong
	}
	p := l.proofs[proverOf(a, trunkID, caller)]
	return p.wrong.count(now) >= maxWrong || wrong >= maxWrongBehind && now.Sub(p.proven) >= provenFor
}

func proverOf(a netip.Addr, trunkID, caller string) prover {
	return prover{source: callwright.Source(a), trunkID: trunkID, caller: caller[:min(len(caller), maxSide)]}
}

// prove changes the proof of a caller. The caller of prove must hold the mutex.
func (l *Limiter) prove(a netip.Addr, trunkID, caller string, change func(*proof)) {
	key := proverOf(a, trunkID, caller)
	p, known := l.proofs[key]
	if !known && len(l.proofs) >= maxProofs {
		l.deleteProof()
	}
	p.seen = l.now()
	change(&p)
	l.proofs[key] = p
}

// deleteProof deletes, among 32 random callers, the least recently seen one, preferably one without correct credentials. Go iterates over a
// map in random order.
func (l *Limiter) deleteProof() {
	const few = 32
	var oldest prover
	looked := 0
	for key, p := range l.proofs {
		if looked == 0 || p.before(l.proofs[oldest]) {
			oldest = key
		}
		if looked++; looked >= few {
			break
		}
	}
	delete(l.proofs, oldest)
}

// before reports whether p must be deleted before other.
func (p proof) before(other proof) bool {
	if p.proven.IsZero() != other.proven.IsZero() {
		return p.proven.IsZero()
	}
	return p.seen.Before(other.seen)
}
