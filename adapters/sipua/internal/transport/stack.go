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

// connectTimeout is the maximum duration of a DNS lookup, and of a connection attempt to one address including its handshake.
const connectTimeout = 5 * time.Second

// Stack combines an instance of sipgo's transport layer, which has separate TLS settings, with the transactions over its connections.
type Stack struct {
	transport *sip.TransportLayer
	server    server
	client    transactions
	profile   Profile // zero for the connections of callers
	framer    func(local, remote net.Addr) *framer
	local     netip.Addr // local address of outbound connections: see peer.Source
}

// Handler handles the requests that a stack receives. Its functions are called in the goroutine that reads the connection of the request,
// and the connection is not read until they return.
type Handler struct {
	// Malformed is called for each message that cannot be parsed, is too long, or has too many headers or parameters. It may be nil.
	Malformed func(s *Stack, from netip.AddrPort)
	// Pace waits until the rate limit of a source allows another request. It may be nil.
	Pace func(from netip.AddrPort)
	// Request answers a request, or starts a goroutine that answers it. It must not block. An ACK receives no response. The stack has set
	// the request's source; the rest is as the sender wrote it.
	Request func(*sip.Request, *ServerTx)
}

// quiet makes sipgo log nothing, because it would log whole messages with credentials and keys. sipgo's default logger is global.
var quiet = sync.OnceValue(func() *slog.Logger {
	l := slog.New(slog.DiscardHandler)
	sip.SetDefaultLogger(l)
	return l
})

var errNeverDials = errors.New("a caller's connection cannot be opened by us")

func neverDial(string, string, syscall.RawConn) error { return errNeverDials }

// NewServer returns the stack for the connections of a listener. It never opens a connection.
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

// Pending returns the number of received INVITEs without a final response.
func (s *Stack) Pending() int { return s.server.count() }

// Serve handles the requests of a listener's connections until the listener closes.
func (s *Stack) Serve(l *Listener) error { return s.transport.ServeTLS(l) }

// filter handles the received bytes of a connection instead of sipgo, because sipgo would close the connection after one malformed message.
// It never returns bytes to sipgo. It returns an error if the connection must be closed.
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

// malformed calls Pace and Malformed for a malformed or excessive message.
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

// write writes text to a pooled connection. It ignores errors, because the reader of the connection then closes it.
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

// framers holds the framers of a stack's outbound connections, one for each address, because the stack has at most one connection to an
// address. The zero value is ready to use.
type framers struct {
	mu  sync.Mutex
	all map[string]opened // by remote address
}

type opened struct {
	local string
	*framer
}

// of returns the framer of a connection. It creates one if the connection is new.
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

// nilAddr returns nil for the typed nil that sipgo passes as "any local address".
func nilAddr(a net.Addr) net.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp == nil {
		return nil
	}
	return a
}

// Connect returns the pooled connection to an address, or opens one. The connection remains in the pool until the stack or the peer closes
// it.
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

// Existing returns the pooled connection to an address, or nil if there is none.
func (s *Stack) Existing(to netip.AddrPort) sip.Connection {
	conn, err := s.transport.GetConnection(message.Transport, to.String())
	if err != nil {
		return nil
	}
	_, _ = conn.TryClose()
	return conn
}

// Heard returns when the last bytes arrived over an outbound connection, or the Unix epoch if none have arrived. It returns the zero time
// if conn is not one of sipgo's TCP connections.
func (s *Stack) Heard(conn sip.Connection) time.Time {
	tcp, ok := conn.(*sip.TCPConnection)
	if !ok {
		return time.Time{}
	}
	return time.Unix(0, s.framer(tcp.LocalAddr(), tcp.RemoteAddr()).heard.Load())
}

// StateOf returns the TLS state of a connection, or the zero state if conn is nil or does not use TLS.
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

// address sets the transport and the destination of a request.
func address(req *sip.Request, to netip.AddrPort) {
	req.SetTransport(message.Transport)
	req.SetDestination(to.String())
}

// Write sends a request outside of a transaction. The ACK of a 2xx is the only such request.
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

// Request sends a request and returns its client transaction. It opens a connection if necessary.
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

// Close ends the stack's transactions and closes its connections.
func (s *Stack) Close() {
	s.client.close()
	s.server.close()
	_ = s.transport.Close()
}
