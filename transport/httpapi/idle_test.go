package httpapi_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
)

// visitor is a client's connection to a server with limited connections.
type visitor struct {
	net.Conn
	reader *bufio.Reader
}

// visits starts a server with limited connections, and returns a function that opens a connection from an address. The server answers
// immediately, except that /slow waits until it can receive from may, or may is closed.
func visits(t *testing.T, limits httpapi.Connections, may <-chan struct{}) (dial func(address string) visitor) {
	t.Helper()
	inner := &pipes{make(chan net.Conn, 1), make(chan struct{})}
	server := httpapi.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-may
		}
	}))
	done := make(chan error)
	go func() { done <- server.Serve(limits.Limit(inner)) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return func(address string) visitor {
		client, end := net.Pipe()
		inner.ends <- from{end, address}
		synctest.Wait()
		<-time.After(time.Second) // no two connections become idle at the same instant
		return visitor{client, bufio.NewReader(client)}
	}
}

func (v visitor) ask(path string) {
	_, _ = io.WriteString(v, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
}

// answered waits for the answer to a request. It reports false if the connection is closed instead.
func (v visitor) answered() bool {
	answer, err := http.ReadResponse(v.reader, nil)
	if err == nil {
		_ = answer.Body.Close()
		synctest.Wait()
	}
	return err == nil
}

func (v visitor) gets(path string) bool {
	v.ask(path)
	return v.answered()
}

// closed reports whether the server has closed a connection without a pending request.
func (v visitor) closed() bool {
	_ = v.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := v.reader.Peek(1)
	_ = v.SetReadDeadline(time.Time{})
	return errors.Is(err, io.EOF)
}

func TestIdleConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		may := make(chan struct{})
		dial := visits(t, httpapi.Connections{Total: 4, PerAddress: 3, Runtime: callwright.Runtime{Logger: slog.New(slog.NewTextHandler(&log, nil))}}, may)
		open := func(address string) visitor {
			t.Helper()
			v := dial(address)
			if !v.gets("/") {
				t.Errorf("%s is refused", address)
			}
			return v
		}
		busy := dial("192.0.2.2:1")
		busy.ask("/slow")
		first, second := open("192.0.2.1:1"), dial("192.0.2.1:2") // second sends no request
		third := open("192.0.2.1:3")
		<-time.After(time.Second)
		if !first.gets("/") { // first is now the connection that became idle last
			t.Error("a connection was closed without need")
		}
		other := open("192.0.2.3:1")
		if !second.closed() {
			t.Error("the connection that was idle longest is open")
		}
		again := open("192.0.2.3:2")
		if other.closed() || !third.closed() {
			t.Error("the address with the most connections has not lost one")
		}
		_ = again.Close()
		synctest.Wait()
		last := open("192.0.2.4:1")
		if v := dial("192.0.2.2:2"); v.gets("/") {
			t.Error("an address has taken the connection of another one that has no more than it")
		}
		if !last.gets("/") || !first.gets("/") || !other.gets("/") {
			t.Error("a connection was closed without need")
		}
		close(may)
		if !busy.answered() {
			t.Error("a request was cut")
		}
		if text := log.String(); !strings.Contains(text, "idle HTTP connections are closed") || !strings.Contains(text, "HTTP connections are refused") {
			t.Errorf("the log has %q", text)
		}
	})
}

// TestIdleConnectionsOfAnAddressGiveWay checks that an address at its limit loses its own idle connection, and not the connection of
// another address.
func TestIdleConnectionsOfAnAddressGiveWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		may := make(chan struct{})
		dial := visits(t, httpapi.Connections{Total: 10, PerAddress: 2}, may)
		other, idle, busy := dial("192.0.2.2:1"), dial("192.0.2.1:1"), dial("192.0.2.1:2")
		busy.ask("/slow")
		next := dial("192.0.2.1:3")
		if next.ask("/slow"); !idle.closed() || other.closed() {
			t.Error("not the address's own connection was closed")
		}
		if v := dial("192.0.2.1:4"); !v.closed() {
			t.Error("a connection beyond the limit is open, and all others have requests")
		}
		close(may)
		if !busy.answered() || !next.answered() || !other.gets("/") {
			t.Error("a request was cut")
		}
	})
}
