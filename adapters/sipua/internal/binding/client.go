// Package binding registers trunks with their customers' servers. It is the REGISTER client of RFC 3261, section 10.
//
// A binding uses the connection over which it was registered (a flow, RFC 5626), and calls for the trunk arrive over that connection.
package binding

import (
	"context"
	"crypto/rand"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/sip/registration"
)

const (
	watchEvery = time.Second      // interval of checks for a closed connection
	keepAlive  = time.Minute      // interval of keep-alives, unless the registrar requires a shorter one
	pongWait   = 10 * time.Second // maximum wait for the answer to a keep-alive (RFC 5626, 4.4.1)
)

// Config configures a Client. All fields are required.
type Config struct {
	Pool    *transport.Pool
	Contact sip.Uri // without a user part
	Agent   string  // the User-Agent header

	callwright.Runtime
}

// Client holds the bindings of all trunks. It implements registration.Line and is safe for concurrent use.
type Client struct {
	cfg Config

	mu        sync.Mutex
	bindings  map[string]*binding // by trunk id
	keepAlive time.Duration
	pongWait  time.Duration
}

var _ registration.Line = (*Client)(nil)

// binding is the state of a trunk's registration.
type binding struct {
	requesting sync.Mutex       // serializes REGISTERs and guards the fields down to plain
	id         message.Identity // all REGISTERs of a binding have the same Call-ID (RFC 3261, 10.2.4)
	cseq       uint32
	profile    transport.Profile
	stack      *transport.Stack // held for profile; nil if none is held
	address    netip.AddrPort
	wanted     registration.Binding // the argument of the last Register
	unknown    bool                 // the last Register was canceled before its response
	plain      bool                 // register without a flow (RFC 5626), which a proxy does not support

	// The client's mutex guards the following fields.
	flow  flow
	until time.Time // when the binding expires at the server
	lost  func()
}

// flow is the connection over which a trunk is registered. conn is nil if there is no registration.
type flow struct {
	stack    *transport.Stack
	address  netip.AddrPort
	conn     sip.Connection
	received netip.AddrPort // our address as the server reports it (RFC 3581); zero if it reports none
	outbound bool           // the registrar uses the connection for calls and answers keep-alives (RFC 5626)
	every    time.Duration  // 85 % of the registrar's Flow-Timer, as the maximum interval of keep-alives; 0 means no Flow-Timer
	pinged   time.Time      // time of the last keep-alive
}

// flowOf returns the flow of a binding after the registrar's 2xx response.
func flowOf(b *binding, conn sip.Connection, res *sip.Response) flow {
	f := flow{stack: b.stack, address: b.address, conn: conn, received: receivedAs(res), outbound: message.Requires(res, "outbound")}
	if h := res.GetHeader("Flow-Timer"); h != nil && f.outbound {
		f.every = message.ReadSeconds(h.Value()) * 85 / 100 // RFC 5626 requires 80 to 100 %
	}
	if b.flow.conn == conn {
		f.pinged = b.flow.pinged
	}
	return f
}

func (f flow) closed() bool { return f.stack.Existing(f.address) != f.conn }

// due reports whether a keep-alive is due. It returns false while the last one is unanswered.
func (f flow) due(now time.Time, every time.Duration) bool {
	if f.unanswered() {
		return false
	}
	if f.every > 0 {
		every = min(every, f.every)
	}
	return now.Sub(f.pinged) >= every
}

// dead reports whether the last keep-alive has been unanswered for wait or longer.
func (f flow) dead(now time.Time, wait time.Duration) bool {
	return f.unanswered() && now.Sub(f.pinged) >= wait
}

// unanswered reports whether a registrar that answers keep-alives has sent nothing since the last keep-alive.
func (f flow) unanswered() bool {
	return f.outbound && !f.pinged.IsZero() && f.stack.Heard(f.conn).Before(f.pinged)
}

// New returns a client without bindings.
func New(cfg Config) *Client {
	return &Client{cfg: cfg, bindings: map[string]*binding{}, keepAlive: keepAlive, pongWait: pongWait}
}

// KeepAlive sets the interval of keep-alives, and the maximum wait for their answers. The defaults are a minute and 10 s.
func (c *Client) KeepAlive(every, pong time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keepAlive, c.pongWait = every, pong
}

// of returns the binding of a trunk, and creates it if there is none.
func (c *Client) of(trunkID string) *binding {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bindings[trunkID]
	if b == nil {
		b = &binding{id: message.Identity{CallID: rand.Text(), LocalTag: rand.Text()}}
		c.bindings[trunkID] = b
	}
	return b
}

// unbind deletes the binding of a trunk, so that calls over its connection are no longer the trunk's. bound reports whether the server may
// still hold the binding. b is nil if there was no binding.
func (c *Client) unbind(trunkID string) (b *binding, bound bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b = c.bindings[trunkID]
	if b == nil {
		return nil, false
	}
	delete(c.bindings, trunkID)
	bound = time.Now().Before(b.until)
	b.flow, b.lost = flow{}, nil
	return b, bound
}

// Contact returns our Contact for a call over a registration: our end of the connection as the server reports it, or Config.Contact if the
// server reports none. The server may be unable to reach our public host, and sends requests for the reported address over the connection.
func (c *Client) Contact(conn sip.Connection) sip.Uri {
	contact := *c.cfg.Contact.Clone()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.bindings {
		if b.flow.conn == conn && b.flow.received.IsValid() {
			contact.Host, contact.Port = message.Bracketed(b.flow.received.Addr().String()), int(b.flow.received.Port())
		}
	}
	return contact
}

// Trunks returns the ids of the trunks whose unexpired bindings use a connection.
func (c *Client) Trunks(conn sip.Connection) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var trunks []string
	for id, b := range c.bindings {
		if b.flow.conn != nil && b.flow.conn == conn && time.Now().Before(b.until) {
			trunks = append(trunks, id)
		}
	}
	return trunks
}

// Run calls Binding.Lost for lost connections and sends keep-alives until ctx ends.
func (c *Client) Run(ctx context.Context) {
	var pings sync.WaitGroup
	defer pings.Wait()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			for _, lost := range c.broken() {
				lost()
			}
			for _, conn := range c.silent(now) {
				pings.Go(func() { ping(conn) })
			}
		}
	}
}

// broken closes the connections whose keep-alives are unanswered. It deletes closed connections from their bindings, and returns the Lost
// callbacks of these bindings.
func (c *Client) broken() []func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var tell []func()
	now := time.Now()
	for _, b := range c.bindings {
		switch {
		case b.flow.conn == nil:
			continue
		case b.flow.dead(now, c.pongWait):
			_ = b.flow.conn.Close()
		case !b.flow.closed():
			continue
		}
		if b.lost != nil {
			tell = append(tell, b.lost)
		}
		b.flow, b.lost = flow{}, nil
	}
	return tell
}

// silent returns the connections that are due for a keep-alive, and records that it is sent now.
func (c *Client) silent(now time.Time) []*sip.TCPConnection {
	c.mu.Lock()
	defer c.mu.Unlock()
	conns := map[*sip.TCPConnection]struct{}{} // a set, because trunks with the same server share a connection
	for _, b := range c.bindings {
		if conn, ok := b.flow.conn.(*sip.TCPConnection); ok && b.flow.due(now, c.keepAlive) {
			conns[conn] = struct{}{}
		}
	}
	for _, b := range c.bindings {
		conn, ok := b.flow.conn.(*sip.TCPConnection)
		if _, pinged := conns[conn]; ok && pinged {
			b.flow.pinged = now
		}
	}
	return slices.Collect(maps.Keys(conns))
}

// ping sends a keep-alive (RFC 5626, 3.5.1), so that neither NATs nor the server close an idle connection. If the keep-alive cannot be
// written, ping closes the connection.
func ping(conn *sip.TCPConnection) {
	if _, err := conn.Write([]byte("\r\n\r\n")); err != nil {
		_ = conn.Close()
	}
}
