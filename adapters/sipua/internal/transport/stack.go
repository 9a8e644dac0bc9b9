package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/peer"
)

// connectTimeout bounds a DNS look-up, and the connection to one address with its handshake.
const connectTimeout = 5 * time.Second

// Stack joins an instance of sipgo's transport layer, which has TLS settings of its own, to the transactions over its connections.
type Stack struct {
	transport *sip.TransportLayer
	server    server
	client    transactions
	profile   Profile // zero for callers' connections
	framer    func(local, remote net.Addr) *framer
	local     netip.Addr // from which connections leave: see peer.Source
}

// Handler handles the requests that stacks receive. Its functions are called by the goroutine that reads the request's
// connection, which is not read meanwhile.
type Handler struct {
	// Malformed hears of each message that cannot be parsed. May be nil.
	Malformed func(s *Stack, from netip.AddrPort)
	// Pace waits until the source of a request may send one more. May be nil.
	Pace func(from netip.AddrPort)
	// Request answers a request, or has another goroutine answer it, without blocking. An ACK gets no response. The
	// transport has set its source and connection; the rest is as the sender wrote it.
	Request func(*sip.Request, *ServerTx)
}

// quiet silences sipgo, which logs whole messages with credentials and keys. Its default logger is global.
var quiet = sync.OnceValue(func() *slog.Logger {
	l := slog.New(slog.DiscardHandler)
	sip.SetDefaultLogger(l)
	return l
})

var errNeverDials = errors.New("a caller's connection cannot be opened by us")

func neverDial(string, string, syscall.RawConn) error { return errNeverDials }

// NewServer returns the stack of a listener's connections. It never dials.
func NewServer(l *Listener, handle Handler) *Stack {
	return newStack(l.config, neverDial, handle, l.framer)
}

func newStack(
	config *tls.Config, control peer.Control, handle Handler, framer func(local, remote net.Addr) *framer,
) *Stack {
	dialer := net.Dialer{Timeout: connectTimeout, Control: control}
	tlsTransport := &sip.TransportTLS{TransportTCP: &sip.TransportTCP{
		DialerCreate: func(laddr net.Addr) net.Dialer {
			d := dialer
			d.LocalAddr = nilAddr(laddr)
			return d
		},
		WriteTimeout: connectTimeout,
	}}
	s := &Stack{
		server: server{handle: handle, invites: map[string]*ServerTx{}}, client: transactions{all: map[string]*sip.ClientTx{}},
		framer: framer,
	}
	s.transport = sip.NewTransportLayer(net.DefaultResolver, sip.NewParser(), config,
		sip.WithTransportLayerLogger(quiet()),
		sip.WithTransportLayerReadFilter(s.filter),
		sip.WithTransportLayerTransports(sip.TransportsConfig{TLS: tlsTransport}),
	)
	return s
}

// Pending returns the number of INVITEs without a final response.
func (s *Stack) Pending() int { return s.server.count() }

// Serve handles the requests of a listener's connections until the listener closes.
func (s *Stack) Serve(l *Listener) error { return s.transport.ServeTLS(l) }

// filter handles received bytes of a connection in place of sipgo, which would close the connection for one malformed
// message. It passes nothing on.
func (s *Stack) filter(from sip.TransportReadProps, data []byte) ([]byte, error) {
	remote := from.RemoteAddr.String()
	f := s.framer(from.LocalAddr, from.RemoteAddr)
	if f == nil {
		return nil, net.ErrClosed
	}
	f.heard.Store(time.Now().UnixNano())
	if f.isKeepAlive(data) {
		s.write(remote, "\r\n")
	}
	whole, refusals, err := f.feed(data)
	for _, text := range refusals {
		s.malformed(from.RemoteAddr)
		if text != "" {
			s.write(remote, text)
		}
	}
	for _, msg := range whole {
		msg.SetTransport(message.Transport)
		msg.SetSource(remote)
		s.receive(msg)
	}
	return nil, err
}

// malformed paces and reports a message that sipgo cannot parse.
func (s *Stack) malformed(remote net.Addr) {
	from, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return
	}
	if s.server.handle.Pace != nil {
		s.server.handle.Pace(from)
	}
	if s.server.handle.Malformed != nil {
		s.server.handle.Malformed(s, from)
	}
}

// write writes to a pooled connection. A connection that does not take it will be closed by its reader.
func (s *Stack) write(remote, text string) {
	conn, err := s.transport.GetConnection(message.Transport, remote)
	if err != nil {
		return
	}
	if w, ok := conn.(io.Writer); ok {
		_, _ = io.WriteString(w, text)
	}
	_, _ = conn.TryClose()
}

// framers holds the framers of the connections that a stack has opened: one for each address, because the stack has at
// most one connection to it. The zero value is ready to use.
type framers struct {
	mu  sync.Mutex
	all map[string]opened // by remote address
}

type opened struct {
	local string
	*framer
}

// of returns the framer of a connection.
func (f *framers) of(local, remote net.Addr) *framer {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.all[remote.String()]
	if known.framer == nil || known.local != local.String() {
		if f.all == nil {
			f.all = map[string]opened{}
		}
		known = opened{local: local.String(), framer: &framer{}}
		f.all[remote.String()] = known
	}
	return known.framer
}

// nilAddr undoes the typed nil that sipgo passes for "any local address".
func nilAddr(a net.Addr) net.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp == nil {
		return nil
	}
	return a
}

// Connect returns a connection to an address: the pooled one or a new one. It stays while the stack and the peer keep it.
func (s *Stack) Connect(ctx context.Context, to netip.AddrPort) (sip.Connection, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	req := sip.NewRequest(sip.OPTIONS, sip.Uri{Scheme: "sip", Host: to.Addr().String(), Port: int(to.Port())})
	req.AppendHeader(&sip.ViaHeader{ProtocolName: "SIP", ProtocolVersion: "2.0", Transport: message.Transport})
	address(req, to)
	if from := peer.Source(s.local, to.Addr()); from.IsValid() {
		req.Laddr = sip.Addr{IP: from.AsSlice()}
	}
	conn, err := s.transport.ClientRequestConnection(ctx, req)
	if err != nil {
		return nil, err
	}
	_, _ = conn.TryClose()
	return conn, nil
}

// Existing returns the pooled connection to an address; nil without one.
func (s *Stack) Existing(to netip.AddrPort) sip.Connection {
	conn, err := s.transport.GetConnection(message.Transport, to.String())
	if err != nil {
		return nil
	}
	_, _ = conn.TryClose()
	return conn
}

// Heard returns the time at which the last bytes came over a connection of ours.
func (s *Stack) Heard(conn sip.Connection) time.Time {
	tcp, ok := conn.(*sip.TCPConnection)
	if !ok {
		return time.Time{}
	}
	return time.Unix(0, s.framer(tcp.LocalAddr(), tcp.RemoteAddr()).heard.Load())
}

// StateOf returns the TLS state of a connection; zero for nil.
func StateOf(conn sip.Connection) tls.ConnectionState {
	tcp, ok := conn.(*sip.TCPConnection)
	if !ok {
		return tls.ConnectionState{}
	}
	secure, ok := tcp.Conn.(interface{ ConnectionState() tls.ConnectionState })
	if !ok {
		return tls.ConnectionState{}
	}
	return secure.ConnectionState()
}

// address sets where a request is sent.
func address(req *sip.Request, to netip.AddrPort) {
	req.SetTransport(message.Transport)
	req.SetDestination(to.String())
}

// Write sends a request outside a transaction: the ACK of a 2xx.
func (s *Stack) Write(ctx context.Context, req *sip.Request, to netip.AddrPort) error {
	if err := message.CheckControl(req); err != nil {
		return err
	}
	address(req, to)
	conn, err := s.Connect(ctx, to)
	if err != nil {
		return err
	}
	return conn.WriteMsg(req)
}

// Request starts a client transaction.
func (s *Stack) Request(ctx context.Context, req *sip.Request, to netip.AddrPort) (*sip.ClientTx, error) {
	if err := message.CheckControl(req); err != nil {
		return nil, err
	}
	address(req, to)
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := s.transport.ClientRequestConnection(ctx, req)
	if err != nil {
		return nil, err
	}
	return s.client.begin(req, conn)
}

// Close ends the transactions and closes the connections.
func (s *Stack) Close() {
	s.client.close()
	s.server.close()
	_ = s.transport.Close()
}
