package peer_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"

	"code.dny.dev/ssrf"

	"github.com/callwright/callwright/adapters/sipua/internal/peer"
	"github.com/callwright/callwright/adapters/testca"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/self"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	guard := peer.Guard(false, nil)
	for address, allowed := range map[string]bool{
		"8.8.8.8:5061": true, "[2606:4700::1]:5060": true, "127.0.0.1:5061": false, "10.1.2.3:5060": false,
		"192.168.0.1:5060": false, "169.254.169.254:80": false, "100.64.0.1:5060": false, "0.0.0.0:5060": false,
		"224.0.0.1:5060": false, "[::1]:5061": false, "[fe80::1]:5060": false, "[fd00::1]:5060": false,
		"[::ffff:127.0.0.1]:5060": false,
	} {
		for _, network := range []string{"tcp", "udp"} {
			family := "4"
			if address[0] == '[' {
				family = "6"
			}
			if err := guard(network+family, address, nil); (err == nil) != allowed {
				t.Errorf("%s over %s: %v", address, network+family, err)
			}
		}
	}
	if err := guard("unix", "/tmp/socket", nil); err == nil {
		t.Error("another kind of network is let through")
	}
	for _, address := range []string{"127.0.0.1:5061", "10.1.2.3:5060", "8.8.8.8:5061"} {
		if err := peer.Guard(true, nil)("tcp4", address, nil); err != nil {
			t.Errorf("%s where all are allowed: %v", address, err)
		}
	}
}

// TestGuardOfItself checks that Guard never allows the server's own address and port, even if private addresses are allowed.
func TestGuardOfItself(t *testing.T) {
	t.Parallel()
	own := new(self.Server)
	own.Listen(netip.MustParseAddrPort("8.8.8.8:5061"))
	for _, allowPrivate := range []bool{true, false} {
		guard := peer.Guard(allowPrivate, own)
		if err := guard("tcp4", "8.8.8.8:5061", nil); err == nil || peer.Reason(&net.OpError{Op: "dial", Err: err}) != self.Reason {
			t.Errorf("its own address: %v", err)
		}
		if err := guard("tcp4", "8.8.8.8:5071", nil); err != nil {
			t.Errorf("another port: %v", err)
		}
	}
}

// TestClient checks the configuration of a client. Its handshakes are tested with the probes and in package sipua.
func TestClient(t *testing.T) {
	t.Parallel()
	own := peer.Fixed([]tls.Certificate{{}}, x509.NewCertPool())
	for _, verify := range []trunk.TLSVerification{"", trunk.VerifyFull, trunk.VerifyChain, trunk.VerifyNone} {
		c := peer.Client(own, nil, verify, "pbx.test")
		if (c.VerifyConnection == nil) != (verify == trunk.VerifyNone) || c.ServerName != "pbx.test" || c.MinVersion != tls.VersionTLS12 {
			t.Errorf("%q: %+v", verify, c)
		}
		if c.VerifyConnection == nil {
			continue
		}
		if err := c.VerifyConnection(tls.ConnectionState{}); err == nil {
			t.Errorf("%q: a peer without a certificate is let through", verify)
		}
	}
}

// TestFull checks that full verification requires a known authority and a certificate that names the host, and rejects an empty host.
func TestFull(t *testing.T) {
	t.Parallel()
	ca, err := testca.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue("pbx.test", "192.0.2.1", "2001:db8::1")
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	state := tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}
	for host, good := range map[string]bool{
		"pbx.test": true, "192.0.2.1": true, "2001:db8::1": true, "": false, "else.test": false, "192.0.2.2": false,
	} {
		c := peer.Client(peer.Fixed(nil, ca.Pool()), nil, trunk.VerifyFull, host)
		if err := c.VerifyConnection(state); (err == nil) != good {
			t.Errorf("%q: %v", host, err)
		}
		strange := peer.Client(peer.Fixed(nil, x509.NewCertPool()), nil, trunk.VerifyFull, host)
		if err := strange.VerifyConnection(state); err == nil {
			t.Errorf("%q: an unknown root is let through", host)
		}
	}
}

func TestReason(t *testing.T) {
	t.Parallel()
	refused := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	secret := errors.New("secret text of the peer")
	for want, errs := range map[string][]error{
		"the certificate is signed by an unknown authority": {refused(x509.UnknownAuthorityError{})},
		"the certificate does not name the host":            {refused(x509.HostnameError{})},
		"the certificate has expired, or is not valid yet":  {refused(x509.CertificateInvalidError{Reason: x509.Expired})},
		"the certificate is not valid":                      {refused(x509.CertificateInvalidError{}), refused(secret)},
		"the server refuses the TLS handshake":              {tls.AlertError(40), &net.OpError{Op: "remote error", Err: secret}},
		"the server does not speak TLS":                     {tls.RecordHeaderError{Msg: "secret"}},
		"the address is not public":                         {ssrf.ErrProhibitedIP, ssrf.ErrProhibitedNetwork},
		"the attempt was canceled":                          {context.Canceled},
		"no answer in time":                                 {context.DeadlineExceeded, os.ErrDeadlineExceeded, syscall.ETIMEDOUT},
		"the connection is refused":                         {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}},
		"no route leads to the address":                     {syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EADDRNOTAVAIL},
		"the server closed the connection":                  {io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE},
		"the connection failed":                             {secret},
	} {
		for _, err := range errs {
			if got := peer.Reason(fmt.Errorf("on the way: %w", err)); got != want {
				t.Errorf("%v: %q, want %q", err, got, want)
			}
		}
	}
}
