package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// portHooks is a receiver of the webhooks of port requests.
type portHooks struct {
	url string
	mu  sync.Mutex
	ids map[string]map[string]string // content of each message, by id of the request and of the message
}

func newPortHooks(t *testing.T) *portHooks {
	t.Helper()
	h := &portHooks{ids: map[string]map[string]string{}}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var told struct {
			Request string `json:"port_request_id"`
			From    any    `json:"from"`
			To      string `json:"to"`
			At      string `json:"at"`
		}
		if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
			t.Error(err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.ids[told.Request] == nil {
			h.ids[told.Request] = map[string]string{}
		}
		id, what := r.Header.Get("Webhook-Id"), fmt.Sprint(told.From, told.To, told.At)
		if before, again := h.ids[told.Request][id]; again && before != what {
			t.Errorf("the message %s of %s told %q and then %q", id, told.Request, before, what)
		}
		h.ids[told.Request][id] = what
	}))
	t.Cleanup(s.Close)
	h.url = s.URL
	return h
}

// told returns the number of different messages about a request.
func (h *portHooks) told(request string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ids[request])
}
