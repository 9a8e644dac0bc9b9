package e2e_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/server"
)

// ping is an OPTIONS request that a SIP server answers. %T is its transport.
const ping = "OPTIONS sip:127.0.0.1 SIP/2.0\r\n" +
	"Via: SIP/2.0/%T 127.0.0.1:5061;branch=z9hG4bKping\r\nMax-Forwards: 70\r\n" +
	"From: <sip:ping@127.0.0.1>;tag=1\r\nTo: <sip:127.0.0.1>\r\nCall-ID: ping\r\nCSeq: 1 OPTIONS\r\n" +
	"Content-Length: 0\r\n\r\n"

// TestOnlyTLS checks that the SIP port answers requests only over TLS 1.2 or newer.
func TestOnlyTLS(t *testing.T) {
	t.Parallel()
	s := server.Start(t, server.Config{})
	roots := x509.NewCertPool()
	if pem, err := os.ReadFile(s.CA); err != nil || !roots.AppendCertsFromPEM(pem) {
		t.Fatalf("the server's root: %v", err)
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		conn := handshake(t, s, &tls.Config{RootCAs: roots, MinVersion: version, MaxVersion: version})
		if conn == nil {
			t.Errorf("%s is refused", tls.VersionName(version))
			continue
		}
		if answer := ask(t, conn, "TLS"); !strings.HasPrefix(answer, "SIP/2.0 200 ") {
			t.Errorf("over %s a request is answered with %q", tls.VersionName(version), answer)
		}
	}
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		if handshake(t, s, &tls.Config{RootCAs: roots, MinVersion: version, MaxVersion: version}) != nil {
			t.Errorf("%s is spoken", tls.VersionName(version))
		}
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", s.SIP.String())
	if err != nil {
		t.Fatal(err)
	}
	if answer := ask(t, conn, "TCP"); strings.Contains(answer, "SIP/2.0") {
		t.Errorf("a request without TLS is answered with %q", answer)
	}
	udp, err := dialer.DialContext(t.Context(), "udp", s.SIP.String())
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	if _, err := udp.Write([]byte(strings.ReplaceAll(ping, "%T", "UDP"))); err == nil {
		// No server listens on UDP. The system reports that at the next read.
		if err := udp.SetReadDeadline(time.Now().Add(await.Limit)); err != nil {
			t.Fatal(err)
		}
		if n, err := udp.Read(make([]byte, 1500)); err == nil {
			t.Errorf("a request over UDP is answered with %d bytes", n)
		}
	}
}

// handshake returns a TLS connection to the SIP port, or nil if the handshake fails.
func handshake(t *testing.T, s *server.Server, config *tls.Config) net.Conn {
	t.Helper()
	dialer := tls.Dialer{Config: config}
	conn, err := dialer.DialContext(t.Context(), "tcp", s.SIP.String())
	if err != nil {
		return nil
	}
	return conn
}

// ask sends ping and returns the received bytes, until the headers of the answer are complete or the peer closes the connection.
func ask(t *testing.T, conn net.Conn, transport string) string {
	t.Helper()
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(await.Limit)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, strings.ReplaceAll(ping, "%T", transport)); err != nil {
		return ""
	}
	var answer strings.Builder
	for piece := make([]byte, 4096); ; {
		n, err := conn.Read(piece)
		answer.Write(piece[:n])
		if err != nil || strings.Contains(answer.String(), "\r\n\r\n") {
			return answer.String()
		}
	}
}
