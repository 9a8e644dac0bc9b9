package sipua_test

import (
	"crypto/tls"
	"crypto/x509"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
)

// credentials are the values that Config.Credentials returns in a test.
type credentials struct {
	certificates []tls.Certificate
	roots        *x509.CertPool
}

// TestRenewedCertificates checks that later connections in both directions use renewed certificates and roots, and that a call continues on
// its connection.
func TestRenewedCertificates(t *testing.T) {
	t.Parallel()
	first, roots := issue(t, "127.0.0.1", "first.test")
	second, _ := issue(t, "127.0.0.1", "second.test")
	var now atomic.Pointer[credentials]
	now.Store(&credentials{[]tls.Certificate{first}, roots})
	a := newAgent(t, func(c *sipua.Config) {
		c.Certificates, c.Roots = nil, nil
		c.Credentials = func() ([]tls.Certificate, *x509.CertPool) { s := now.Load(); return s.certificates, s.roots }
	})
	inbound := func() string {
		t.Helper()
		conn, err := dialFrom(t, a, "127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].DNSNames[0]
	}
	asked := make(chan string, 100)
	servers := func(want string) { // skips connections from before the renewal and of second attempts
		t.Helper()
		for ctx := within(t); ; {
			select {
			case name := <-asked:
				if name == want {
					return
				}
			case <-ctx.Done():
				t.Fatalf("servers never see %s", want)
			}
		}
	}
	server, _ := issue(t, "127.0.0.1")
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{server}, MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAnyClientCert,
		VerifyConnection: func(s tls.ConnectionState) error {
			asked <- s.PeerCertificates[0].DNSNames[0]
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).HandshakeContext(t.Context()) //nolint:forcetypeassert // as tls.Listen says
			_ = conn.Close()
		}
	}()
	a.callsTo(t, ln.Addr().String())
	a.routes.route.Verify = trunk.VerifyFull
	outbound := func() call.HangupReason {
		t.Helper()
		_, err := a.Dial(within(t), call.DialRequest{Org: org, From: alice, To: bob}, nil)
		return endingOf(t, err)
	}
	c := newCaller(t, a)
	legs := answer(t, a)
	c.connected()
	leg := <-legs
	if name := inbound(); name != "first.test" {
		t.Errorf("callers see %s", name)
	}
	outbound()
	servers("first.test")
	for len(asked) > 0 { // a call whose connection closes immediately opens another connection
		<-asked
	}
	now.Store(&credentials{[]tls.Certificate{second}, roots})
	if name := inbound(); name != "second.test" {
		t.Errorf("after the renewal callers see %s", name)
	}
	outbound()
	servers("second.test")
	now.Store(&credentials{[]tls.Certificate{second}, x509.NewCertPool()})
	if e := outbound(); e.Cause != call.CauseUnreachable || e.Reason == "" {
		t.Errorf("a server of a root that was removed is called: %+v", e)
	}
	select {
	case <-leg.Done():
		t.Fatalf("the call has ended: %+v", leg.Ending())
	default:
	}
	c.ask("BYE", "")
	c.response(200)
	ends(t, leg)
}
