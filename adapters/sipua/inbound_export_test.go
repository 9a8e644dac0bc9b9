package sipua

import (
	"crypto/tls"
	"net"
	"net/netip"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/registration"
)

// Sources is the table of those who call us.
type Sources struct{ s *sources }

// NewSources is newSources.
func NewSources(perSecond int, now func() time.Time) Sources {
	return Sources{newSources(perSecond, now)}
}

func (s Sources) Enter(a netip.Addr) bool                      { return s.s.enter(a) != nil }
func (s Sources) Leave(a netip.Addr)                           { s.s.leave(a) }
func (s Sources) Admit(a netip.Addr)                           { s.s.admit(a) }
func (s Sources) Refuse(a netip.Addr)                          { s.s.refuse(a) }
func (s Sources) Barred(a netip.Addr) bool                     { return s.s.barred(a) }
func (s Sources) Mistaken(a netip.Addr, trunkID string)        { s.s.mistaken(a, trunkID) }
func (s Sources) Mistrusted(a netip.Addr, trunkID string) bool { return s.s.mistrusted(a, trunkID) }
func (s Sources) Len() int                                     { return len(s.s.known) }

// Challenger asks callers for proof.
type Challenger struct{ c *challenger }

// NewChallenger is newChallenger.
func NewChallenger(realm string, now func() time.Time) Challenger {
	return Challenger{newChallenger(realm, now)}
}

// Nonce is that of a new challenge.
func (c Challenger) Nonce(source netip.Addr) string { return c.c.nonce(source) }

// Judge says what an INVITE's answers are worth.
func (c Challenger) Judge(to callwright.PhoneNumber, source netip.Addr, with trunk.Credentials, answers ...string) string {
	req := sip.NewRequest(sip.INVITE, sip.Uri{Scheme: "sip", Host: "x"})
	for _, a := range answers {
		req.AppendHeader(sip.NewHeader("Authorization", a))
	}
	return [...]string{"unanswered", "wrong", "stale", "right"}[c.c.judge(req, to, source, with)]
}

// Listen is a TLS listener with its own patience, and what tells it of a message.
func Listen(config *tls.Config, first, idle time.Duration, busy func(netip.AddrPort) bool) (
	ln net.Listener, heard func(netip.AddrPort), err error,
) {
	l, err := listen("127.0.0.1:0", config, limits{
		read:  1 << 20,
		total: 100, perAddress: 100, first: first, idle: idle, busy: busy, barred: func(netip.Addr) bool { return false },
	})
	if err != nil {
		return nil, nil, err
	}
	return l, l.heard, nil
}

// KeepAlive sets how often registrations' connections are kept alive.
func (u *UA) KeepAlive(every time.Duration) {
	u.bindings.mu.Lock()
	defer u.bindings.mu.Unlock()
	u.bindings.every = every
}

// ReadRegistered reads an answer to a REGISTER in every way; false for what is none.
func ReadRegistered(data []byte) (granted time.Duration, seen netip.AddrPort, refused *registration.Refusal, ok bool) {
	msg, err := sip.ParseMessage(data)
	res, isResponse := msg.(*sip.Response)
	if !isResponse || err != nil {
		return 0, seen, nil, false //nolint:nilerr // false says so
	}
	r := binding{id: identity{contact: sip.Uri{Scheme: "sip", User: "us", Host: "x.test", Port: 5061}}}
	return r.granted(res, time.Hour), seenAs(res), refusalFrom(res), true
}

// Held is how many calls and registrations hold connections that we have made.
func (u *UA) Held() int {
	u.stacks.mu.Lock()
	defer u.stacks.mu.Unlock()
	n := 0
	for _, sh := range u.stacks.open {
		n += sh.uses
	}
	return n
}

// Known says whether a caller's connection is known to speak SIP.
func (u *UA) Known(remote netip.AddrPort) bool {
	u.listener.mu.Lock()
	defer u.listener.mu.Unlock()
	c := u.listener.open[remote]
	if c == nil {
		return false
	}
	_, known := c.deadline()
	return known
}
