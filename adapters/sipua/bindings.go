package sipua

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/sip/registration"
)

const (
	watchEvery = time.Second // how soon a lost connection is noticed
	keepAlive  = time.Minute
)

// bindings are our registrations with customers' servers, by trunk.
type bindings struct {
	mu     sync.Mutex
	all    map[string]*binding
	every  time.Duration // keepAlive
	pinged time.Time     // when keep-alives were sent last
}

// binding is one registration.
type binding struct {
	asking  sync.Mutex // one request at a time; guards what follows
	id      identity   // one Call-ID for all requests of a binding (RFC 3261, 10.2.4)
	cseq    uint32
	profile profile
	stack   *stack // of profile; nil: none acquired
	address netip.AddrPort
	with    registration.Binding // as last asked for
	open    bool                 // the last answer was not waited for

	// The mutex of bindings guards these.
	way   way       // that calls come over
	until time.Time // the server forgets us then
	lost  func()
}

// way is a connection to a server, and where it is known; conn is nil for none.
type way struct {
	stack   *stack
	address netip.AddrPort
	conn    sip.Connection
	seen    netip.AddrPort // our end of it, as the server sees it; zero: it does not say
}

// gone says whether a connection is closed.
func (w way) gone() bool { return w.stack.existing(w.address) != w.conn }

// of finds a trunk's binding, or begins one.
func (b *bindings) of(trunkID string) *binding {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.all[trunkID]
	if r == nil {
		r = &binding{id: identity{callID: token(), localTag: token()}}
		b.all[trunkID] = r
	}
	return r
}

// remove forgets a binding, and whether it was one: no call comes over it any more.
func (b *bindings) remove(trunkID string) (r *binding, bound bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r = b.all[trunkID]
	if r == nil {
		return nil, false
	}
	delete(b.all, trunkID)
	bound = time.Now().Before(r.until)
	r.way, r.lost = way{}, nil
	return r, bound
}

// contactOver is our Contact in a call that comes over a registration: the connection as the server sees it. Our public
// host may be out of its reach, and what it sends to that address takes the connection.
func (u *UA) contactOver(conn sip.Connection) sip.Uri {
	contact := *u.contact.Clone()
	u.bindings.mu.Lock()
	defer u.bindings.mu.Unlock()
	for _, r := range u.bindings.all {
		if r.way.conn == conn && r.way.seen.IsValid() {
			contact.Host, contact.Port = bracketed(r.way.seen.Addr().String()), int(r.way.seen.Port())
		}
	}
	return contact
}

// registered are the trunks whose bindings a request's connection is, if it is one that we have made.
func (u *UA) registered(conn sip.Connection) []string {
	u.bindings.mu.Lock()
	defer u.bindings.mu.Unlock()
	var trunks []string
	for id, r := range u.bindings.all {
		if r.way.conn != nil && r.way.conn == conn && time.Now().Before(r.until) {
			trunks = append(trunks, id)
		}
	}
	return trunks
}

// watch looks after the bindings' connections until the user agent closes.
func (u *UA) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-u.context.Done():
			return
		case now := <-tick.C:
			for _, lost := range u.bindings.broken() {
				lost()
			}
			for _, conn := range u.bindings.silent(now) {
				u.wg.Go(func() { ping(conn) })
			}
		}
	}
}

// broken takes the connections that are gone away from their bindings, and gives whom to tell.
func (b *bindings) broken() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	var tell []func()
	for _, r := range b.all {
		if r.way.conn == nil || !r.way.gone() {
			continue
		}
		if r.lost != nil {
			tell = append(tell, r.lost)
		}
		r.way, r.lost = way{}, nil
	}
	return tell
}

// silent are the connections that are due for a keep-alive: all of them, or none.
func (b *bindings) silent(now time.Time) []*sip.TCPConnection {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.pinged) < b.every {
		return nil
	}
	b.pinged = now
	conns := map[*sip.TCPConnection]struct{}{} // trunks with one server share one
	for _, r := range b.all {
		if conn, ok := r.way.conn.(*sip.TCPConnection); ok {
			conns[conn] = struct{}{}
		}
	}
	return slices.Collect(maps.Keys(conns))
}

// ping sends a keep-alive (RFC 5626, 3.5.1), lest somebody on its way forgets a connection, or the server takes it for
// idle.
func ping(conn *sip.TCPConnection) {
	if _, err := conn.Write([]byte("\r\n\r\n")); err != nil {
		_ = conn.Close()
	}
}
