package sipua

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/peer"
)

// connectTimeout bounds one attempt to reach one address, the handshake included.
const connectTimeout = 5 * time.Second

// transport is the only one there is.
const transport = "TLS"

// stack is one instance of sipgo's layers with TLS settings of its own. sipgo pools connections by remote address alone,
// so settings must never share a stack.
type stack struct {
	tp *sip.TransportLayer
	tx *sip.TransactionLayer // of the requests that come in

	client transactions // of those that we send

	profile profile // of those that we connect to; zero: callers
}

// quiet silences sipgo, which logs whole messages, credentials and keys included. Its default logger is global.
var quiet = sync.OnceValue(func() *slog.Logger {
	l := slog.New(slog.DiscardHandler)
	sip.SetDefaultLogger(l)
	return l
})

var errNeverDials = errors.New("connections of callers are not made by us")

func neverDial(string, string, syscall.RawConn) error { return errNeverDials }

// newStack makes a stack that gives every request to handle.
func newStack(config *tls.Config, may peer.Control, handle sip.TransactionRequestHandler) *stack {
	dialer := net.Dialer{Timeout: connectTimeout, Control: may}
	tlsTransport := &sip.TransportTLS{TransportTCP: &sip.TransportTCP{
		DialerCreate: func(laddr net.Addr) net.Dialer {
			d := dialer
			d.LocalAddr = nilAddr(laddr)
			return d
		},
		WriteTimeout: connectTimeout,
	}}
	s := &stack{tp: sip.NewTransportLayer(net.DefaultResolver, sip.NewParser(), config,
		sip.WithTransportLayerLogger(quiet()),
		sip.WithTransportLayerTransports(sip.TransportsConfig{TLS: tlsTransport}),
	), client: transactions{all: map[string]*sip.ClientTx{}}}
	s.tx = sip.NewTransactionLayer(s.tp,
		sip.WithTransactionLayerLogger(quiet()),
		sip.WithTransactionLayerTerminateOnConnClose(),
		sip.WithTransactionLayerUnhandledResponseHandler(s.client.receive),
	)
	s.tx.OnRequest(handle)
	return s
}

// nilAddr undoes the typed nil that sipgo passes for "any local address".
func nilAddr(a net.Addr) net.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp == nil {
		return nil
	}
	return a
}

// connect makes sure that there is a connection to an address and says how it is secured.
func (s *stack) connect(ctx context.Context, to netip.AddrPort) (tls.ConnectionState, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := s.connection(ctx, to)
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer func() { _, _ = conn.TryClose() }()
	return stateOf(conn), nil
}

// connection takes a connection from the pool or makes one. The caller gives it back with TryClose.
func (s *stack) connection(ctx context.Context, to netip.AddrPort) (sip.Connection, error) {
	req := sip.NewRequest(sip.OPTIONS, sip.Uri{Scheme: "sip", Host: to.Addr().String(), Port: int(to.Port())})
	req.AppendHeader(&sip.ViaHeader{ProtocolName: "SIP", ProtocolVersion: "2.0", Transport: transport})
	req.SetTransport(transport)
	req.SetDestination(to.String())
	return s.tp.ClientRequestConnection(ctx, req)
}

// hold makes sure that there is a connection to an address and says which. It stays while the stack and the peer let it.
func (s *stack) hold(ctx context.Context, to netip.AddrPort) (sip.Connection, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := s.connection(ctx, to)
	if err != nil {
		return nil, err
	}
	_, _ = conn.TryClose()
	return conn, nil
}

// existing is the connection to an address; nil without one.
func (s *stack) existing(to netip.AddrPort) sip.Connection {
	conn, err := s.tp.GetConnection(transport, to.String())
	if err != nil {
		return nil
	}
	_, _ = conn.TryClose()
	return conn
}

// alive says whether there is a connection to an address.
func (s *stack) alive(to netip.AddrPort) bool {
	conn, err := s.tp.GetConnection(transport, to.String())
	if err != nil {
		return false
	}
	_, _ = conn.TryClose()
	return true
}

// state says how the connection from an address is secured.
func (s *stack) state(from string) tls.ConnectionState {
	conn, err := s.tp.GetConnection(transport, from)
	if err != nil {
		return tls.ConnectionState{}
	}
	defer func() { _, _ = conn.TryClose() }()
	return stateOf(conn)
}

func stateOf(conn sip.Connection) tls.ConnectionState {
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

// write sends a request outside a transaction: an ACK of a 2xx.
func (s *stack) write(ctx context.Context, req *sip.Request, to netip.AddrPort) error {
	if err := clean(req); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := s.connection(ctx, to)
	if err != nil {
		return err
	}
	defer func() { _, _ = conn.TryClose() }()
	return conn.WriteMsg(req)
}

// request starts a client transaction.
func (s *stack) request(ctx context.Context, req *sip.Request, to netip.AddrPort) (*sip.ClientTx, error) {
	if err := clean(req); err != nil {
		return nil, err
	}
	req.SetTransport(transport)
	req.SetDestination(to.String())
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := s.tp.ClientRequestConnection(ctx, req)
	if err != nil {
		return nil, err
	}
	return s.client.begin(req, conn)
}

func (s *stack) close() {
	s.client.close()
	s.tx.Close()
	_ = s.tp.Close()
}

var errControl = errors.New("a control character in a SIP header")

// clean refuses a message that would be read as another one: whatever a user typed must not start a new line.
func clean(msg interface {
	StartLine() string
	Headers() []sip.Header
}) error {
	if hasControl(msg.StartLine()) {
		return fmt.Errorf("start line: %w", errControl)
	}
	for _, h := range msg.Headers() {
		if hasControl(h.Name()) || hasControl(h.Value()) {
			return fmt.Errorf("%.20q: %w", h.Name(), errControl)
		}
	}
	return nil
}

func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return true
		}
	}
	return false
}
