package sipua

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/registration"
)

const (
	unregisterTimeout = 5 * time.Second
	watchEvery        = time.Second // how soon a lost connection is noticed
	keepAlive         = time.Minute
)

var _ registration.Line = (*UA)(nil)

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

// Register makes or refreshes a binding: see registration.Line.
func (u *UA) Register(ctx context.Context, b registration.Binding) (time.Duration, error) {
	r := u.bindings.of(b.TrunkID)
	r.asking.Lock()
	defer r.asking.Unlock()
	conn, err := u.reachRegistrar(ctx, r, b)
	if err != nil {
		return 0, errors.New(unreachable(ctx, err).Reason)
	}
	res, err := u.register(ctx, r, b.Expires)
	if err != nil {
		return 0, err
	}
	granted := r.granted(res, b.Expires)
	if granted <= 0 {
		return 0, &registration.Refusal{Code: res.StatusCode, Reason: "the server does not keep the registration"}
	}
	u.bindings.mu.Lock()
	defer u.bindings.mu.Unlock()
	r.way, r.until, r.lost = way{r.stack, r.address, conn, seenAs(res)}, time.Now().Add(granted), b.Lost
	return granted, nil
}

// Unregister takes a binding back: see registration.Line.
func (u *UA) Unregister(ctx context.Context, trunkID string) {
	r, bound := u.bindings.remove(trunkID)
	if r == nil {
		return
	}
	r.asking.Lock()
	defer r.asking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, unregisterTimeout)
	defer cancel()
	if bound {
		_, err := u.reachRegistrar(ctx, r, r.with)
		if err == nil {
			_, err = u.register(ctx, r, 0)
		}
		if err != nil {
			u.log.Info("registration was not taken back", "trunk", trunkID, "error", err)
		}
	}
	if r.stack != nil {
		u.stacks.release(r.profile)
	}
}

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

// reachRegistrar gives the connection to a binding's server: the one that it has, or a new one.
func (u *UA) reachRegistrar(ctx context.Context, r *binding, b registration.Binding) (sip.Connection, error) {
	p := profileOf(b.Verify, b.Server.Host)
	if r.stack != nil && r.profile != p {
		u.stacks.release(r.profile)
		r.stack = nil
	}
	if r.stack == nil {
		r.stack = u.stacks.acquire(p)
		if r.stack == nil {
			return nil, errClosed
		}
	}
	if r.profile != p || r.with.Server.Port != b.Server.Port {
		r.address = netip.AddrPort{}
	}
	r.profile, r.with = p, b
	u.describe(r)
	if conn := r.stack.existing(r.address); conn != nil {
		return conn, nil
	}
	targets, err := u.targets(ctx, b.Server)
	if err != nil {
		return nil, err
	}
	for _, to := range targets {
		var conn sip.Connection
		if conn, err = r.stack.hold(ctx, to.Address); err == nil {
			r.address = to.Address
			return conn, nil
		}
	}
	return nil, err
}

// describe says who registers, as what: the address of record is the user name at the server, the Contact our number.
func (u *UA) describe(r *binding) {
	who := sip.Uri{Scheme: "sip", User: r.with.Credentials.Username, Host: bracketed(r.with.Server.Host)}
	r.id.local, r.id.remote = party{uri: who}, party{uri: who}
	r.id.contact = *u.contact.Clone()
	r.id.contact.User = r.with.Number.String()
	r.id.via, r.id.agent = u.contact, u.config.UserAgent
}

// register asks for a binding, and answers challenges: one of the server and one of a proxy, and one of them again when
// its nonce has become stale. The response is a success.
func (u *UA) register(ctx context.Context, r *binding, expires time.Duration) (*sip.Response, error) {
	answers := map[string]*challenge{}
	renewed := false
	for {
		res, err := r.exchange(ctx, answers, expires)
		switch {
		case err != nil:
			return nil, err
		case res.IsSuccess():
			return res, nil
		case res.StatusCode != sip.StatusUnauthorized && res.StatusCode != sip.StatusProxyAuthRequired:
			return nil, refusalFrom(res)
		}
		ch := strongest(res)
		if ch == nil {
			return nil, refusalFrom(res)
		}
		if answers[ch.header] != nil {
			if !ch.Stale || renewed {
				return nil, refusalFrom(res)
			}
			renewed = true
		}
		answers[ch.header] = ch
	}
}

// exchange sends one REGISTER and waits for its final answer.
func (r *binding) exchange(ctx context.Context, answers map[string]*challenge, expires time.Duration) (
	*sip.Response, error,
) {
	target := r.with.Server
	r.cseq++
	req, err := r.id.request(dialog.Send{
		Method: dialog.Method(sip.REGISTER), CSeq: r.cseq, Via: dialog.Path{RequestURI: target.String()},
	})
	if err != nil {
		return nil, err
	}
	req.Via().Params.Add("rport", "")
	contact := &sip.ContactHeader{Address: r.id.contact}
	contact.Params.Add("expires", seconds(expires))
	req.AppendHeader(contact)
	req.AppendHeader(sip.NewHeader("Expires", seconds(expires)))
	for _, ch := range answers {
		if err := ch.authorize(req, r.with.Credentials); err != nil {
			return nil, err
		}
	}
	req.SetBody(nil)
	tx, err := r.stack.request(ctx, req, r.address)
	if err != nil {
		return nil, err
	}
	defer tx.Terminate()
	for {
		select {
		case res := <-tx.Responses():
			if !res.IsProvisional() {
				return res, nil
			}
		case <-tx.Done():
			return nil, errors.New("the server did not answer")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func refusalFrom(res *sip.Response) *registration.Refusal {
	r := &registration.Refusal{
		Code: res.StatusCode, Reason: strings.TrimSpace(res.StartLine()[len("SIP/2.0"):]),
		Auth: res.StatusCode == sip.StatusUnauthorized || res.StatusCode == sip.StatusProxyAuthRequired,
	}
	r.Reason = printable(r.Reason)
	r.RetryAfter = readRetryAfter(res)
	if h := res.GetHeader("Min-Expires"); h != nil && res.StatusCode == statusIntervalTooBrief {
		r.MinExpires = readSeconds(h.Value())
	}
	return r
}

const statusIntervalTooBrief = 423

// granted is for how long a success keeps us: as it says of our Contact, else of all, else what was asked for.
func (r *binding) granted(res *sip.Response, asked time.Duration) time.Duration {
	for _, h := range res.GetHeaders("Contact") {
		c, ok := h.(*sip.ContactHeader)
		if !ok || c.Address.User != r.id.contact.User || !strings.EqualFold(c.Address.Host, r.id.contact.Host) ||
			c.Address.Port != r.id.contact.Port {
			continue
		}
		if text, ok := c.Params.Get("expires"); ok {
			return readSeconds(text)
		}
	}
	if h := res.GetHeader("Expires"); h != nil {
		return readSeconds(h.Value())
	}
	return asked
}

// seenAs is where a request came from that was sent with rport, as its answer says (RFC 3581, section 4).
func seenAs(res *sip.Response) netip.AddrPort {
	via := res.Via()
	if via == nil {
		return netip.AddrPort{}
	}
	address, err := netip.ParseAddr(trimBrackets(via.Params.GetOr("received", "")))
	port, portErr := strconv.ParseUint(via.Params.GetOr("rport", ""), 10, 16)
	if err != nil || portErr != nil || port == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(address.Unmap().WithZone(""), uint16(port))
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
