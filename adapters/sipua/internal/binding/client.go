// Package binding registers trunks with their customers' servers: the REGISTER client of RFC 3261, section 10.
//
// A binding keeps the connection on which it was registered (a flow, RFC 5626), and calls for the trunk come over that
// connection.
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
	keepAlive  = time.Minute      // between keep-alives, unless the registrar wants them sooner
	pongWait   = 10 * time.Second // for the answer to one (RFC 5626, 4.4.1)
)

// Config configures a Client. All fields are required.
type Config struct {
	Pool    *transport.Pool
	Contact sip.Uri // without a user
	Agent   string  // User-Agent

	callwright.Runtime
}

// Client holds the bindings of all trunks. It is a registration.Line, and safe for concurrent use.
type Client struct {
	cfg Config

	mu        sync.Mutex
	bindings  map[string]*binding // by trunk
	keepAlive time.Duration
	pongWait  time.Duration
}

var _ registration.Line = (*Client)(nil)

// binding is one trunk's registration.
type binding struct {
	requesting sync.Mutex       // one REGISTER at a time; guards the fields below
	id         message.Identity // one Call-ID for all REGISTERs of a binding (RFC 3261, 10.2.4)
	cseq       uint32
	profile    transport.Profile
	stack      *transport.Stack // of profile; nil: none acquired
	address    netip.AddrPort
	wanted     registration.Binding // as last asked for
	unknown    bool                 // the last response was not waited for
	plain      bool                 // without RFC 5626

	// The client's mutex guards these.
	flow  flow
	until time.Time // when the server's binding expires
	lost  func()
}

// flow is the connection that a trunk is registered on; conn is nil for none.
type flow struct {
	stack    *transport.Stack
	address  netip.AddrPort
	conn     sip.Connection
	received netip.AddrPort // our address as the server sees it (RFC 3581); zero when it does not say
	outbound bool           // the registrar calls over the connection, and answers keep-alives (RFC 5626)
	every    time.Duration  // at least so often it wants keep-alives; 0: it does not say
	pinged   time.Time      // when the last one was sent
}

// flowOf returns the flow of a binding after the registrar's success.
func flowOf(b *binding, conn sip.Connection, res *sip.Response) flow {
	f := flow{stack: b.stack, address: b.address, conn: conn, received: receivedAs(res), outbound: message.Requires(res, "outbound")}
	if h := res.GetHeader("Flow-Timer"); h != nil && f.outbound {
		f.every = message.ReadSeconds(h.Value()) * 85 / 100 // 80 to 100 %
	}
	if b.flow.conn == conn {
		f.pinged = b.flow.pinged
	}
	return f
}

func (f flow) closed() bool { return f.stack.Existing(f.address) != f.conn }

// due reports whether a keep-alive is due. The next one waits for the answer to the last.
func (f flow) due(now time.Time, every time.Duration) bool {
	if f.unanswered() {
		return false
	}
	if f.every > 0 {
		every = min(every, f.every)
	}
	return now.Sub(f.pinged) >= every
}

// dead reports whether the answer to the last keep-alive is overdue.
func (f flow) dead(now time.Time, wait time.Duration) bool {
	return f.unanswered() && now.Sub(f.pinged) >= wait
}

// unanswered reports whether a registrar that answers keep-alives has sent nothing since the last one.
func (f flow) unanswered() bool {
	return f.outbound && !f.pinged.IsZero() && f.stack.Heard(f.conn).Before(f.pinged)
}

// New returns a client without bindings.
func New(cfg Config) *Client {
	return &Client{cfg: cfg, bindings: map[string]*binding{}, keepAlive: keepAlive, pongWait: pongWait}
}

// KeepAlive sets the interval of keep-alives, and the wait for their answers. The defaults are a minute and 10 s.
func (c *Client) KeepAlive(every, pong time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keepAlive, c.pongWait = every, pong
}

// of returns a trunk's binding, and adds a new one.
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

// unbind deletes a trunk's binding: no call comes over it any more. bound reports whether it has not expired.
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

// Contact returns our Contact in a call that comes over a registration: our end of the connection as the server sees it.
// Our public host may be out of the server's reach, and its requests to that address take the connection.
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

// Trunks returns the trunks that are registered on a connection.
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

// Run reports lost connections and sends keep-alives until ctx ends.
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

// broken closes connections whose keep-alives have no answer, deletes closed ones from their bindings, and returns the callbacks of
// those.
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

// silent returns the connections that are due for a keep-alive.
func (c *Client) silent(now time.Time) []*sip.TCPConnection {
	c.mu.Lock()
	defer c.mu.Unlock()
	conns := map[*sip.TCPConnection]struct{}{} // trunks with one server share one
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

// ping sends a keep-alive (RFC 5626, 3.5.1), which keeps NATs and the server from closing an idle connection.
func ping(conn *sip.TCPConnection) {
	if _, err := conn.Write([]byte("\r\n\r\n")); err != nil {
		_ = conn.Close()
	}
}
