package httpapi_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
)

// from is a connection with a given remote address.
type from struct {
	net.Conn
	address string
}

func (f from) RemoteAddr() net.Addr { return named(f.address) }

type named string

func (named) Network() string  { return "tcp" }
func (n named) String() string { return string(n) }

// TestTrustedProxyIsNotLimited checks that PerAddress limits an untrusted address, but not a trusted proxy.
func TestTrustedProxyIsNotLimited(t *testing.T) {
	t.Parallel()
	inner := &pipes{make(chan net.Conn, 1), make(chan struct{})}
	l := httpapi.Connections{Total: 10, PerAddress: 1, Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}.Limit(inner)
	for i := range 5 {
		_, end := net.Pipe()
		inner.ends <- from{end, fmt.Sprintf("[::ffff:10.0.0.1]:%d", i+1)}
		if _, err := l.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		client, end := net.Pipe()
		inner.ends <- from{end, fmt.Sprintf("192.0.2.1:%d", i+1)}
		if i == 0 {
			if _, err := l.Accept(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		done := make(chan error)
		go func() {
			_, err := l.Accept()
			done <- err
		}()
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("a connection too many is not closed: %v", err)
		}
		inner.done <- struct{}{}
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Errorf("accepting ended with %v", err)
		}
	}
}

func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	inner := &pipes{make(chan net.Conn, 1), make(chan struct{})}
	l := httpapi.Connections{Total: 3, PerAddress: 2, Runtime: callwright.Runtime{Logger: slog.New(slog.NewTextHandler(&log, nil))}}.Limit(inner)
	// dial opens a connection from an address and accepts it.
	dial := func(address string) (client, server net.Conn) {
		t.Helper()
		client, end := net.Pipe()
		inner.ends <- from{end, address}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return client, server
	}
	refused := func(address string, room net.Conn) {
		t.Helper()
		client, end := net.Pipe()
		inner.ends <- from{end, address}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("a connection of %s: %v", address, err)
			}
		}()
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("a connection of %s is not closed: %v", address, err)
		}
		if room != nil {
			_ = room.Close()
		}
		inner.done <- struct{}{} // unblocks Accept
		<-done
	}
	_, first := dial("192.0.2.1:1000")
	_, second := dial("[::ffff:192.0.2.1]:1001")
	refused("192.0.2.1:1002", second) // exceeds the limit of the address
	_, third := dial("192.0.2.1:1003")
	_, fourth := dial("192.0.2.2:1000")
	refused("192.0.2.3:1000", nil) // exceeds the total limit
	_ = first.Close()
	_ = first.Close() // a second Close must not be counted
	_, last := dial("[2001:db8::1]:1000")
	refused("192.0.2.3:1001", last)
	_, _ = dial("[2001:db8::1]:1001")
	_, _ = third.Close(), fourth.Close()
	_, _ = dial("[2001:db8::2]:1000")
	refused("[2001:db8::3]:1000", nil) // exceeds the limit of the /64 network
	if text := log.String(); strings.Count(text, "HTTP connections are refused") != 1 || !strings.Contains(text, "limit=3") {
		t.Errorf("the log has %q", text)
	}
}

// TestLimitedConnectionsCloseInHalves checks that a limited connection supports CloseWrite, after which the server can still read.
func TestLimitedConnectionsCloseInHalves(t *testing.T) {
	t.Parallel()
	inner := must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))
	l := httpapi.Connections{}.Limit(inner)
	defer func() { _ = l.Close() }()
	client := must(new(net.Dialer).DialContext(t.Context(), "tcp", inner.Addr().String()))
	defer func() { _ = client.Close() }()
	server := must(l.Accept())
	defer func() { _ = server.Close() }()
	if err := server.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	_ = must(client.Write([]byte("x")))
	if text := must(io.ReadAll(client)); len(text) > 0 {
		t.Errorf("got %q", text)
	}
	if n, err := server.Read(make([]byte, 1)); n != 1 {
		t.Errorf("the other half is closed, too: %v", err)
	}
}
