package sipp

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"

	"github.com/callwright/callwright/adapters/testca"
)

// front is a proxy that accepts TLS connections and forwards their content over TCP.
type front struct {
	listener net.Listener
	wg       sync.WaitGroup
	ctx      context.Context //nolint:containedctx // ends the connections with the test
}

func newFront(t testing.TB, ca *testca.Authority) *front {
	t.Helper()
	certificate, err := ca.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &front{listener: listener, ctx: ctx}
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
		f.wg.Wait()
	})
	return f
}

func (f *front) addr() netip.AddrPort { return netip.MustParseAddrPort(f.listener.Addr().String()) }

// serve forwards connections to an address until the listener is closed.
func (f *front) serve(to netip.AddrPort) {
	f.wg.Go(func() {
		for {
			conn, err := f.listener.Accept()
			if err != nil {
				return
			}
			f.wg.Go(func() { f.join(conn, to) })
		}
	})
}

// join copies data in both directions until either side closes its connection or the test ends.
func (f *front) join(outside net.Conn, to netip.AddrPort) {
	defer outside.Close()
	inside, err := new(net.Dialer).DialContext(f.ctx, "tcp", to.String())
	if err != nil {
		return
	}
	defer inside.Close()
	stop := context.AfterFunc(f.ctx, func() {
		_ = outside.Close()
		_ = inside.Close()
	})
	defer stop()
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{inside, outside}, {outside, inside}} {
		f.wg.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			done <- struct{}{}
		})
	}
	<-done
}
