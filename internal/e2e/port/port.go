// Package port finds ports for the programs that end-to-end tests start, and checks whether a program listens there.
package port

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"
)

// Free returns a TCP port of 127.0.0.1 that is free now. It stays free with high probability until a program takes it:
// the system does not hand out the same port twice in a row.
func Free(t testing.TB) netip.AddrPort {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return netip.MustParseAddrPort(listener.Addr().String())
}

// Listening reports whether a program accepts connections there.
func Listening(ctx context.Context, addr netip.AddrPort) bool {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", addr.String())
	if err != nil {
		return false
	}
	return conn.Close() == nil
}
