package enginetest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/coder/websocket"
)

// WebSocket serves sessions until the test ends, and then waits for them. check may be nil; a status other than 0 refuses a session, with the
// headers that check has set.
func WebSocket(
	t testing.TB, check func(h http.Header, r *http.Request) (status int), serve func(r *http.Request, conn *websocket.Conn),
) *httptest.Server {
	t.Helper()
	return webSocket(t, check, serve, httptest.NewServer)
}

// webSocket implements WebSocket. start starts the server.
func webSocket(
	t testing.TB, check func(h http.Header, r *http.Request) (status int), serve func(r *http.Request, conn *websocket.Conn),
	start func(http.Handler) *httptest.Server,
) *httptest.Server {
	t.Helper()
	var sessions sync.WaitGroup
	// A hijacked connection outlives the context of its request.
	ctx, cancel := context.WithCancel(context.Background())
	server := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if check != nil {
			if status := check(w.Header(), r); status != 0 {
				w.WriteHeader(status)
				return
			}
		}
		sessions.Add(1)
		defer sessions.Done()
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		serve(r.WithContext(ctx), conn)
	}))
	t.Cleanup(func() {
		cancel()
		server.Close()
		sessions.Wait()
	})
	return server
}
