// Package port finds free ports for the programs that end-to-end tests start, and checks whether a program listens on a port.
package port

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"
)

// Free returns a TCP port of 127.0.0.1 that is free now. It most likely stays free until a program uses it, because the system does not
// assign the same port twice in a row.
func Free(t testing.TB) netip.AddrPort {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return netip.MustParseAddrPort(listener.Addr().String())
}

// Listening reports whether a program accepts TCP connections at addr.
func Listening(ctx context.Context, addr netip.AddrPort) bool {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", addr.String())
	if err != nil {
		return false
	}
	return conn.Close() == nil
}
