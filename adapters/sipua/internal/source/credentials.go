package source

import (
	"net/netip"
	"time"

	"github.com/callwright/callwright"
)

// The limits of wrong credentials for one trunk.
const (
	maxWrong       = 3         // a minute, of a source, or of a caller behind a trusted one
	maxWrongBehind = 60        // a minute, of all callers behind a trusted source
	provenFor      = time.Hour // time for which a caller's right credentials exempt it from the limit of all callers
	maxProofs      = 10_000    // callers behind trusted sources that are remembered
)

// prover is a caller behind a trusted source that sends credentials for a trunk.
type prover struct {
	source          netip.Addr
	trunkID, caller string
}

// proof records when a caller's credentials were wrong or right.
type proof struct {
	wrong  window
	proven time.Time // when they were right last
	seen   time.Time
}

// WrongCredentials records wrong credentials for a trunk. Behind a trusted source they count to their caller (see Sides) and to all
// callers of the source together.
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

// RightCredentials records right credentials for a trunk. Wrong ones of other callers behind a trusted source do not keep this caller
// from the trunk for an hour.
func (l *Limiter) RightCredentials(a netip.Addr, trunkID, caller string) {
	if caller == "" || !l.trusted(a) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prove(a, trunkID, caller, func(p *proof) { p.proven = l.now() })
}

// Distrusted reports whether credentials for a trunk are not checked any more, because wrong ones came too often: from a source, or
// behind a trusted one from the caller, or from all callers without right credentials within the last hour.
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

// prove changes the proof of a caller. The mutex is held.
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

// deleteProof deletes the least recently seen of a few callers, preferably one without right credentials: a map gives them in random order.
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

// before reports whether a proof is deleted before another one.
func (p proof) before(other proof) bool {
	if p.proven.IsZero() != other.proven.IsZero() {
		return p.proven.IsZero()
	}
	return p.seen.Before(other.seen)
}
