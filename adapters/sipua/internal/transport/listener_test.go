package transport_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/adapters/testca"
)

// accepted returns both ends of a connection to a new listener, and the listener's Touch.
func accepted(t *testing.T, first, idle time.Duration, busy func(netip.AddrPort) bool) (
	client, server net.Conn, touch func(netip.AddrPort),
) {
	t.Helper()
	ca, err := testca.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	ln, err := transport.Listen("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, transport.Limits{
		Total: 100, PerSource: 100, ReadRate: 1 << 20, First: first, Idle: idle, Busy: busy, Blocked: nobody, Known: nobody,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	d := tls.Dialer{Config: &tls.Config{RootCAs: ca.Pool(), ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}}
	if client, err = d.DialContext(t.Context(), "tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(); _ = server.Close() })
	return client, server, ln.Touch
}

func nobody(netip.Addr) bool { return false }

func never(netip.AddrPort) bool { return false }

func remote(c net.Conn) netip.AddrPort { return netip.MustParseAddrPort(c.RemoteAddr().String()) }

func TestConnectionWithoutAMessage(t *testing.T) {
	t.Parallel()
	client, server, _ := accepted(t, 100*time.Millisecond, time.Hour, func(netip.AddrPort) bool { return true })
	stop := make(chan struct{})
	go func() { // keep-alives do not count as a first message
		defer close(stop)
		for {
			if _, err := client.Write([]byte("\r\n\r\n")); err != nil {
				return
			}
			<-time.After(time.Millisecond)
		}
	}()
	b := make([]byte, 100)
	for {
		if _, err := server.Read(b); err != nil {
			if !isTimeout(err) {
				t.Errorf("%v", err)
			}
			break
		}
	}
	_ = server.Close()
	<-stop
}

func TestIdleConnection(t *testing.T) {
	t.Parallel()
	_, server, touch := accepted(t, time.Hour, 50*time.Millisecond, never)
	touch(remote(server))
	if _, err := server.Read(make([]byte, 10)); !isTimeout(err) {
		t.Errorf("%v", err)
	}
}

// TestBusyConnectionStays checks that received bytes and a call each keep a connection open.
func TestBusyConnectionStays(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	client, server, touch := accepted(t, 50*time.Millisecond, 50*time.Millisecond, func(netip.AddrPort) bool {
		return asked.Add(1) < 4
	})
	touch(remote(server))
	got := make(chan error, 1)
	go func() {
		_, err := server.Read(make([]byte, 10))
		got <- err
	}()
	eventually(t, "it is asked for calls", func() bool { return asked.Load() >= 2 })
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("%v", err)
	}
	for {
		if _, err := server.Read(make([]byte, 10)); err != nil {
			if !isTimeout(err) {
				t.Errorf("%v", err)
			}
			break
		}
	}
	if n := asked.Load(); n != 4 {
		t.Errorf("asked %d times", n)
	}
}

func TestListenerClosesItsConnections(t *testing.T) {
	t.Parallel()
	client, server, _ := accepted(t, time.Hour, time.Hour, never)
	go func() { _ = server.Close() }()
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// patience is the maximum time that a test waits for an event.
const patience = 10 * time.Second

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		<-time.After(time.Millisecond)
	}
}
