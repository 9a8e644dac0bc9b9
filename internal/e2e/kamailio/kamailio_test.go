package kamailio_test

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/kamailio"
)

func TestAnswersOptionsForItsHostOnly(t *testing.T) {
	t.Parallel()
	ca, err := testca.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server := kamailio.Start(t, kamailio.Config{CA: ca, Password: "secret"})
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: ca.Pool(), MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(t.Context(), "tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	host := server.Addr().String()
	_, err = conn.Write([]byte("OPTIONS sip:" + host + " SIP/2.0\r\nVia: SIP/2.0/TLS 127.0.0.1:5099;branch=z9hG4bKa\r\n" +
		"From: <sip:a@127.0.0.1>;tag=a\r\nTo: <sip:" + host + ">\r\nCall-ID: a\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 9\r\n" +
		"Content-Length: 0\r\n\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 4096)
	n, err := conn.Read(answer)
	if err != nil || !strings.HasPrefix(string(answer[:n]), "SIP/2.0 200 ") {
		t.Errorf("%q, %v", answer[:n], err)
	}
	await.That(t, "the request in its log", func() bool { return server.Count("REQUEST OPTIONS") == 1 })
}
