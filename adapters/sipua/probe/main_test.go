package probe_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright/adapters/sipua/probe"
	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is the maximum time that a test waits for an event.
const patience = 10 * time.Second

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

var authority = sync.OnceValues(func() (*testca.Authority, error) {
	folder, err := os.MkdirTemp("", "testca")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	return testca.Open(folder)
})

func issue(t testing.TB, hosts ...string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	ca, err := authority()
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue(hosts...)
	if err != nil {
		t.Fatal(err)
	}
	return cert, ca.Pool()
}

// newProber returns a prober that trusts the certificate authority of the tests and may probe loopback addresses.
func newProber(t testing.TB, dns resolve.DNS, change func(*probe.Config)) *probe.Prober {
	t.Helper()
	if dns == nil {
		dns = net.DefaultResolver // not used for literal addresses
	}
	resolver, err := resolve.New(resolve.Config{DNS: dns})
	if err != nil {
		t.Fatal(err)
	}
	_, pool := issue(t)
	cfg := probe.Config{Resolver: resolver, Roots: pool, AllowPrivate: true}
	if change != nil {
		change(&cfg)
	}
	p, err := probe.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// responder is a scripted peer. handle defines its answer to a request.
type responder struct {
	address netip.AddrPort
	accepts atomic.Int32 // number of connections
	resumed atomic.Int32 // number of connections that resumed a TLS session
	handle  func(request string, send func(...string)) (hangUp bool)

	mu       sync.Mutex
	requests []string
	open     map[net.Conn]bool
}

// respond starts a peer on loopback. cert is required only for TLS.
func respond(
	t testing.TB, transport uri.Transport, cert *tls.Certificate,
	handle func(request string, send func(...string)) (hangUp bool),
) *responder {
	t.Helper()
	r := &responder{handle: handle, open: map[net.Conn]bool{}}
	var lc net.ListenConfig
	var wg sync.WaitGroup
	if transport == uri.UDP {
		conn, err := lc.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		r.address = netip.MustParseAddrPort(conn.LocalAddr().String())
		wg.Go(func() { r.serveDatagrams(conn) })
		t.Cleanup(func() { _ = conn.Close(); wg.Wait() })
		return r
	}
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.address = netip.MustParseAddrPort(ln.Addr().String())
	if transport == uri.TLS {
		ln = tls.NewListener(ln, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*cert}})
	}
	wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			r.accepts.Add(1)
			r.mu.Lock()
			r.open[conn] = true
			r.mu.Unlock()
			wg.Go(func() { r.serveStream(conn) })
		}
	})
	t.Cleanup(func() { _ = ln.Close(); r.hangUp(); wg.Wait() })
	return r
}

// hangUp closes all connections of the peer.
func (r *responder) hangUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.open {
		_ = conn.Close()
	}
	clear(r.open)
}

func (r *responder) received() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.requests...)
}

func (r *responder) reuse(request string, w io.Writer) (hangUp bool) {
	r.mu.Lock()
	r.requests = append(r.requests, request)
	r.mu.Unlock()
	return r.handle(request, func(pieces ...string) {
		for _, piece := range pieces {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	})
}

func (r *responder) serveStream(conn net.Conn) {
	defer conn.Close()
	if secure, ok := conn.(*tls.Conn); ok {
		if secure.HandshakeContext(context.Background()) == nil && secure.ConnectionState().DidResume {
			r.resumed.Add(1)
		}
	}
	var stream string
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		stream += string(buffer[:n])
		for {
			request, rest, ok := strings.Cut(stream, "\r\n\r\n")
			if !ok {
				break
			}
			stream = rest
			if r.reuse(request, conn) {
				return
			}
		}
	}
}

func (r *responder) serveDatagrams(conn net.PacketConn) {
	buffer := make([]byte, 65535)
	for {
		n, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		r.reuse(string(buffer[:n]), to{conn, from})
	}
}

// to is an io.Writer that sends datagrams to one peer.
type to struct {
	net.PacketConn
	peer net.Addr
}

func (w to) Write(b []byte) (int, error) { return w.WriteTo(b, w.peer) }

// answer returns a response to a request, with additional header lines and a body.
func answer(request, status, headers, body string) string {
	b := "SIP/2.0 " + status + "\r\n"
	for line := range strings.SplitSeq(request, "\r\n") {
		name, _, _ := strings.Cut(line, ":")
		switch name {
		case "Via", "From", "To", "Call-ID", "CSeq":
			b += line + "\r\n"
		}
	}
	return b + headers + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// answers returns a handler that sends the same response to every request.
func answers(status, headers, body string) func(string, func(...string)) bool {
	return func(request string, send func(...string)) bool {
		send(answer(request, status, headers, body))
		return false
	}
}
