package webhook_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright/sip/siptest"
)

func TestHooks(t *testing.T) {
	t.Parallel()
	siptest.RunHooks(t, func(t *testing.T) siptest.Receiver {
		var accepted atomic.Int64
		var status atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if s := status.Load(); s != 0 {
				w.WriteHeader(int(s))
				return
			}
			accepted.Add(1)
		}))
		t.Cleanup(server.Close)
		return siptest.Receiver{
			Hooks: sender(t, true), Org: "a", URL: server.URL,
			Gone:     "http://127.0.0.1:1", // no server listens there
			Received: func() int { return int(accepted.Load()) }, Refuse: func(s int) { status.Store(int64(s)) },
		}
	})
}
