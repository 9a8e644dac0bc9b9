package e2e_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/server"
)

// TestHTTPIsFull opens more HTTP connections than the server may open files. The server must still accept SIP connections, and accept HTTP
// connections again when the others have ended.
func TestHTTPIsFull(t *testing.T) {
	t.Parallel()
	const files, connections = 256, 400
	s := server.Start(t, server.Config{Files: files, Flags: []string{"--http-connections-per-address", "2000"}})
	address := strings.TrimPrefix(s.URL, "http://")
	var held []net.Conn
	defer func() {
		for _, conn := range held {
			_ = conn.Close()
		}
	}()
	var refused atomic.Int32
	for range connections {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
		_, _ = fmt.Fprintf(conn, "POST /v1/calls HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n", s.Key)
		go func() {
			if n, _ := conn.Read(make([]byte, 1)); n == 0 {
				refused.Add(1)
			}
		}()
	}
	await.That(t, "connections to be refused", func() bool { return refused.Load() >= connections-files })
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(read(t, s.CA))
	for range 5 {
		conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}).DialContext(t.Context(), "tcp", s.SIP.String())
		if err != nil {
			t.Fatalf("SIP takes no connection: %v", err)
		}
		defer func() { _ = conn.Close() }()
		_, err = fmt.Fprintf(conn, "OPTIONS sip:%[1]s SIP/2.0\r\nVia: SIP/2.0/TLS 127.0.0.1:5099;branch=z9hG4bK-1\r\nMax-Forwards: 70\r\n"+
			"From: <sip:a@127.0.0.1>;tag=1\r\nTo: <sip:%[1]s>\r\nCall-ID: 1@127.0.0.1\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n", s.SIP)
		if err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 8)
		if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "SIP/2.0 " {
			t.Errorf("SIP answers %q, %v", answer, err)
		}
	}
	for _, conn := range held {
		_ = conn.Close()
	}
	await.That(t, "HTTP to answer again", func() bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	for _, want := range []string{"the limit of open files is too small", "HTTP connections are "} {
		if !strings.Contains(s.Log(), want) {
			t.Errorf("the log does not say that %s", want)
		}
	}
}

// TestTooFewFiles checks that the server does not start if the limit of open files is too low.
func TestTooFewFiles(t *testing.T) {
	t.Parallel()
	if said := server.Refused(t, server.Config{Data: t.TempDir(), Files: 64}); !strings.Contains(said, "the limit of open files is 64: it must be at least 256") {
		t.Errorf("the server says %q", said)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
