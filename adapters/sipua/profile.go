package sipua

import (
	"crypto/tls"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/peer"
	trunk "github.com/callwright/callwright/sip"
)

// profile is how a peer's certificate is checked, and under which name it has to be known.
type profile struct {
	verify trunk.TLSVerification
	host   string
}

// linger is how long an unused stack keeps its connections for the next call: 5 minutes. Answers that come too late are
// over by then (64*T1).
func linger() time.Duration { return 600 * sip.T1 }

// stacks are the client side's stacks, one a profile.
type stacks struct {
	base   *tls.Config // roots and our own certificates
	may    peer.Control
	handle func(*stack, *sip.Request, *sip.ServerTx)

	mu     sync.Mutex
	open   map[profile]*shared
	closed bool
}

type shared struct {
	*stack
	uses int
	idle *time.Timer
}

// acquire gives the stack of a profile; nil once the stacks are closed. Each acquire needs a release.
func (s *stacks) acquire(p profile) *stack {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	sh := s.open[p]
	if sh == nil {
		sh = &shared{}
		sh.stack = newStack(peer.Client(s.base, p.verify, p.host), s.may, func(req *sip.Request, tx *sip.ServerTx) {
			s.handle(sh.stack, req, tx)
		})
		sh.stack.profile = p
		s.open[p] = sh
	}
	if sh.idle != nil {
		sh.idle.Stop()
		sh.idle = nil
	}
	sh.uses++
	return sh.stack
}

// hold keeps the connection of a call that comes in over one of ours: the registration that it was made for may end
// before the call does. What callers connect with is theirs to close. It is released with the call.
func (s *stacks) hold(f *flow) bool {
	p := f.stack.profile
	if p.host == "" {
		return true
	}
	switch s.acquire(p) {
	case f.stack:
		f.profile = p
		return true
	case nil:
	default:
		s.release(p)
	}
	return false
}

func (s *stacks) release(p profile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.open[p]
	if sh == nil {
		return
	}
	if sh.uses--; sh.uses == 0 {
		sh.idle = time.AfterFunc(linger(), func() { s.drop(p, sh) })
	}
}

func (s *stacks) drop(p profile, sh *shared) {
	s.mu.Lock()
	unused := s.open[p] == sh && sh.uses == 0
	if unused {
		delete(s.open, p)
	}
	s.mu.Unlock()
	if unused {
		sh.close()
	}
}

func (s *stacks) close() {
	s.mu.Lock()
	s.closed = true
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for _, sh := range open {
		if sh.idle != nil {
			sh.idle.Stop()
		}
		sh.close()
	}
}
