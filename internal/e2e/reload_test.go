package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
)

// writeCertificate writes a self-signed certificate for a name, valid for the given days, and its key.
func writeCertificate(t *testing.T, cert, key, name string, days int) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{name},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().AddDate(0, 0, days),
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, &own.PublicKey, own)
	if err != nil {
		t.Fatal(err)
	}
	chain, secret, err := testca.PEM(tls.Certificate{Certificate: [][]byte{der}, PrivateKey: own})
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string][]byte{key: secret, cert: chain} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// shownBy returns the DNS name in the certificate that a server presents.
func shownBy(t *testing.T, s *server.Server) string {
	t.Helper()
	conn := handshake(t, s, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	if conn == nil {
		t.Fatal("no handshake")
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].DNSNames[0] //nolint:forcetypeassert // as tls.Dialer says
}

// TestReload sends SIGHUP to a server with a running call and a renewed certificate. The server must reload the log level and the
// certificate without ending a connection or the call. Faults of a certificate must appear in the log and at /readyz.
func TestReload(t *testing.T) {
	t.Parallel()
	ca, folder := authority(t), t.TempDir()
	cert, key := filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	writeCertificate(t, cert, key, "old.test", 20)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), "--sip-cert", cert, "--sip-key", key, "--public-host", "new.test")
	for _, warning := range []string{"the SIP certificate expires on", "the SIP certificate does not name new.test"} {
		if !strings.Contains(s.Log(), warning) {
			t.Errorf("the log does not say %q", warning)
		}
		if status, text := s.Get(t, "/readyz"); status != 200 || !strings.Contains(text, "ready\n") || !strings.Contains(text, "warning: "+warning) {
			t.Errorf("/readyz says %d %q", status, text)
		}
	}
	s.AttachOutbound(t, ours.String(), phone.Server())
	id := s.Call(t, appointment())
	phone.Await(t, "CALL_ESTABLISHED", 1)
	if name := shownBy(t, s); name != "old.test" {
		t.Errorf("at the start it shows %s", name)
	}

	writeCertificate(t, cert, key, "new.test", 90)
	if err := os.WriteFile(filepath.Join(s.Data, "log-level"), []byte("debug\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangUp := func() {
		t.Helper()
		if err := syscall.Kill(s.PID(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	hangUp()
	await.That(t, "the new certificate to be shown", func() bool { return shownBy(t, s) == "new.test" })
	await.That(t, "the level to be debug", func() bool {
		return strings.Contains(s.Log(), "level=DEBUG") && strings.Contains(s.Log(), "read again: the level of the log")
	})
	if status, text := s.Get(t, "/readyz"); status != 200 || text != "ready\n" {
		t.Errorf("/readyz says %d %q", status, text)
	}
	// An invalid log level and an invalid certificate must change nothing.
	for _, file := range []string{cert, filepath.Join(s.Data, "log-level")} {
		if err := os.WriteFile(file, []byte("loud"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hangUp()
	await.That(t, "the log to say what is wrong", func() bool {
		return strings.Contains(s.Log(), "the level of the log is unchanged") && strings.Contains(s.Log(), "the previous one stays in use")
	})
	if name := shownBy(t, s); name != "new.test" {
		t.Errorf("then it shows %s", name)
	}
	phone.Hangup(t)
	if r := s.Ended(t, id); r.ErrorMessage.Value != "" {
		t.Errorf("the call ended with %q", r.ErrorMessage.Value)
	}
	if !s.Running() {
		t.Error("the server has ended")
	}
}

// TestLogLines checks the log of a server with a call. Each line must contain the node, and each line about the call its id. Probes must
// not cause lines, and the API key that the server created must not occur.
func TestLogLines(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), "--node", "node-7", "--trusted-proxies", "192.0.2.0/24")
	s.AttachOutbound(t, ours.String(), phone.Server())
	id := s.Call(t, appointment())
	phone.Await(t, "CALL_ESTABLISHED", 1)
	for range 10 {
		if status, _ := s.Get(t, "/readyz"); status != 200 {
			t.Errorf("/readyz says %d", status)
		}
	}
	phone.Hangup(t)
	s.Ended(t, id)
	negotiated := 0
	for line := range strings.SplitSeq(s.Log(), "\n") {
		if !strings.HasPrefix(line, "time=") {
			continue // output for people at the start of the server
		}
		if !strings.Contains(line, "node=node-7") {
			t.Errorf("a line without the node: %s", line)
		}
		if strings.Contains(line, "media negotiated") {
			negotiated++
			if strings.Count(line, "call_id="+id) != 1 {
				t.Errorf("a line without its call: %s", line)
			}
		}
		if strings.Contains(line, "readyz") {
			t.Errorf("a probe has a line: %s", line)
		}
	}
	if negotiated == 0 || strings.Contains(s.Log(), s.Key) || !strings.Contains(s.Log(), "api-key") {
		t.Errorf("%d lines of media; the log is %s", negotiated, s.Log())
	}
}
