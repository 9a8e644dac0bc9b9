package carrierhttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/portgateway/carrierhttp"
	"github.com/callwright/callwright/porting/portingtest"
)

// api returns a handler that creates an order for each request, with the request's body as the key. It answers with the order's reference,
// and with status 422 if the carrier returns an error.
func api(c *portingtest.Carrier) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, _ := io.ReadAll(r.Body)
		o, err := c.Create(string(key), []callwright.PhoneNumber{"+14155550100"})
		if err != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
		}
		_, _ = fmt.Fprint(w, "taken: ", o.Ref)
	})
}

// A handler of a carrier's API answers with the faults of the carrier's script.
func ExampleHandler() {
	faults := []portingtest.Fault{portingtest.Unavailable, portingtest.FailsLate, portingtest.NoFault}
	carrier := portingtest.NewCarrier(portingtest.CarrierScript{Idempotent: true, Fault: func() portingtest.Fault {
		next := faults[0]
		faults = faults[1:]
		return next
	}})
	server := httptest.NewServer(carrierhttp.Handler(carrier, api(carrier)))
	defer server.Close()
	for range 3 {
		reply, err := http.Post(server.URL, "text/plain", http.NoBody) //nolint:noctx // an example
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := io.ReadAll(reply.Body)
		_ = reply.Body.Close()
		fmt.Printf("%d %.14s, orders: %d\n", reply.StatusCode, text, len(carrier.Orders()))
	}
	// Output:
	// 503 <html>the serv, orders: 0
	// 500 internal error, orders: 1
	// 200 taken: order-1, orders: 1
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for fault, want := range map[portingtest.Fault]struct {
		status, orders int
	}{
		portingtest.NoFault: {200, 1}, portingtest.Unavailable: {503, 0}, portingtest.Limited: {429, 0}, portingtest.Unauthorized: {401, 0},
		portingtest.Garbled: {200, 0}, portingtest.FailsLate: {500, 1}, portingtest.LosesReply: {0, 1}, portingtest.CutsReply: {0, 1},
		portingtest.Hangs: {0, 0}, portingtest.HangsLate: {0, 1},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			carrier := portingtest.NewCarrier(portingtest.CarrierScript{Fault: func() portingtest.Fault { return fault }})
			handler := carrierhttp.Handler(carrier, api(carrier))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if fault == portingtest.Hangs || fault == portingtest.HangsLate {
					go cancel() // the server never answers such a request
				}
				handler.ServeHTTP(w, r)
			}))
			status, err := post(ctx, t, server.URL)
			server.Close() // waits for the handler to return
			if status != want.status || len(carrier.Orders()) != want.orders || (err == nil) != (want.status != 0) {
				t.Errorf("status %d, %d orders, %v; want %+v", status, len(carrier.Orders()), err, want)
			}
		})
	}
}

// post returns the status of a complete response. If none arrives, it returns 0 and an error.
func post(ctx context.Context, t *testing.T, url string) (int, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = reply.Body.Close() }()
	if _, err := io.ReadAll(reply.Body); err != nil {
		return 0, err
	}
	return reply.StatusCode, nil
}
