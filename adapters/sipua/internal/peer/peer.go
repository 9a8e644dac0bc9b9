// Package peer contains the rules for connections to servers that calls and probes share: permitted addresses, verification of
// certificates, and descriptions of failed connections.
package peer

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"

	"code.dny.dev/ssrf"

	"github.com/callwright/callwright"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/self"
)

// Control returns an error for an address that must not be dialed. It receives the address after DNS resolution, so that a name cannot
// resolve to a private address after a check (DNS rebinding). A nil Control allows every address.
type Control func(network, address string, c syscall.RawConn) error

// errSelf is the error for an address at which this server itself listens.
var errSelf = errors.New(self.Reason)

// Guard returns a Control that allows all addresses if allowPrivate is set, and otherwise only public addresses over TCP and UDP. It never
// allows an address at which own listens.
func Guard(allowPrivate bool, own *self.Server) Control {
	safe := func(string, string, syscall.RawConn) error { return nil }
	if !allowPrivate {
		safe = ssrf.New(ssrf.WithAnyPort(), ssrf.WithNetworks("tcp4", "tcp6", "udp4", "udp6")).Safe
	}
	return func(network, address string, c syscall.RawConn) error {
		if to, err := netip.ParseAddrPort(address); err == nil && own.At(to) {
			return errSelf
		}
		return safe(network, address, c)
	}
}

// Client returns the TLS configuration of a client. verify selects whether the client verifies nothing, the chain of the peer's
// certificate, or the chain and the host. The client never verifies the dialed address, because within a dialog the peer chooses that
// address. sessions may be nil.
func Client(own Credentials, sessions tls.ClientSessionCache, verify trunk.TLSVerification, host string) *tls.Config {
	c := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: host, ClientSessionCache: sessions, GetClientCertificate: own.show,
		InsecureSkipVerify: true, //nolint:gosec // crypto/tls would keep the roots of its start: VerifyConnection uses the current ones
	}
	switch verify {
	case trunk.VerifyNone:
	case trunk.VerifyChain:
		c.VerifyConnection = own.chain
	default:
		c.VerifyConnection = own.full(host)
	}
	return c
}

// VerifyChain returns an error unless the peer's certificate is currently valid and chains to a root. Nil roots mean the system's. It
// ignores the names in the certificate.
func VerifyChain(state tls.ConnectionState, roots *x509.CertPool) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the peer presented no certificate")
	}
	intermediates := x509.NewCertPool()
	for _, cert := range state.PeerCertificates[1:] {
		intermediates.AddCert(cert)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates})
	return err
}

// Reason returns a readable reason for a failed connection. For an error with a code it returns the error's message. The text contains
// nothing that the peer has sent.
func Reason(err error) string {
	if e, ok := errors.AsType[*callwright.Error](err); ok {
		return e.Message
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return certificateReason(e.Err)
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return "the server refuses the TLS handshake"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "the server does not speak TLS"
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "remote error" {
		return "the server refuses the TLS handshake"
	}
	switch {
	case errors.Is(err, errSelf):
		return self.Reason
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedNetwork):
		return "the address is not public"
	case errors.Is(err, context.Canceled):
		return "the attempt was canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT):
		return "no answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection is refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EADDRNOTAVAIL):
		return "no route leads to the address"
	case Closed(err):
		return "the server closed the connection"
	default:
		return "the connection failed"
	}
}

// Closed reports whether an error means that the peer has closed the connection.
func Closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func certificateReason(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the certificate is signed by an unknown authority"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the certificate does not name the host"
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok && e.Reason == x509.Expired {
		return "the certificate has expired, or is not valid yet"
	}
	return "the certificate is not valid"
}

// Source returns the local address for a connection to a remote address, so that peers can add it to their allow-lists. It returns the
// given local address, or the zero Addr if the system must choose. The system chooses if the local address is invalid, unspecified or of
// the other address family, or if it is a loopback address and the remote one is not.
func Source(local, to netip.Addr) netip.Addr {
	local, to = local.Unmap(), to.Unmap()
	if !local.IsValid() || local.IsUnspecified() || local.Is4() != to.Is4() || local.IsLoopback() && !to.IsLoopback() {
		return netip.Addr{}
	}
	return local
}
