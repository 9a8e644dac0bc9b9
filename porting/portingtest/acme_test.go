package portingtest_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/portgateway/carrierhttp"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/portingtest"
)

// acmeOrder is the JSON form of an order in the API of the fictitious carrier Acme.
type acmeOrder struct {
	ID      string       `json:"id,omitempty"`
	Note    string       `json:"note,omitempty"` // the gateway's Order.Key
	Numbers []acmeNumber `json:"numbers,omitempty"`
	Version int64        `json:"version,omitempty"`
	Kept    bool         `json:"kept,omitempty"`   // Acme refuses to cancel
	Reason  string       `json:"reason,omitempty"` // reason why Acme refuses the order
}

type acmeNumber struct {
	Number string    `json:"number"`
	Status string    `json:"status,omitempty"`
	Date   time.Time `json:"date,omitzero"`
	Reason string    `json:"reason,omitempty"`
}

// acmeStatuses maps Acme's names for the states of a number to ours.
var acmeStatuses = map[string]porting.NumberState{
	"RECEIVED": porting.NumberSubmitted, "REVIEW": porting.NumberInProgress, "DATED": porting.NumberConfirmed, "DONE": porting.NumberPorted,
	"REFUSED": porting.NumberRejected, "WITHDRAWN": porting.NumberCanceled,
}

// acmeAPI returns Acme's HTTP API, backed by a scripted carrier.
func acmeAPI(c *portingtest.Carrier) http.Handler {
	answer := func(w http.ResponseWriter, o portingtest.CarrierOrder, err error) {
		reply := acmeOrder{ID: o.Ref, Note: o.Key, Version: o.Version, Kept: o.CancelRefused}
		for _, n := range o.Numbers {
			status := "DREAMING" // a status that the gateway does not know
			for word, state := range acmeStatuses {
				if state == n.State {
					status = word
				}
			}
			told := acmeNumber{Number: string(n.Number), Status: status, Date: n.FOC}
			if n.Failure != nil {
				told.Reason = string(n.Failure.Code)
			}
			reply.Numbers = append(reply.Numbers, told)
		}
		if refusal, ok := errors.AsType[*porting.Refusal](err); ok {
			reply.Reason = string(refusal.Failure.Code)
			w.WriteHeader(http.StatusUnprocessableEntity)
		} else if err != nil {
			w.WriteHeader(http.StatusNotFound)
		}
		if err := json.NewEncoder(w).Encode(reply); err != nil {
			panic(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var wanted acmeOrder
		if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var numbers []callwright.PhoneNumber
		for _, n := range wanted.Numbers {
			numbers = append(numbers, callwright.PhoneNumber(n.Number))
		}
		o, err := c.Create(wanted.Note, numbers)
		answer(w, o, err)
	})
	mux.HandleFunc("GET /orders", func(w http.ResponseWriter, r *http.Request) {
		o, err := c.Find(r.FormValue("note"))
		answer(w, o, err)
	})
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		o, err := c.Order(r.PathValue("id"))
		answer(w, o, err)
	})
	mux.HandleFunc("DELETE /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		o, err := c.Cancel(r.PathValue("id"))
		answer(w, o, err)
	})
	return mux
}

// acmeGateway is a gateway to Acme. Acme stores a key only as a note on an order, so the gateway searches for the note before it creates an
// order.
type acmeGateway struct {
	url      string
	mu       sync.Mutex // held during search and creation
	careless bool       // creates an order even if the search finds one
}

// serveAcme serves Acme's API until the test ends, and returns its URL.
func serveAcme(t testing.TB, c *portingtest.Carrier) (url string) {
	t.Helper()
	server := httptest.NewServer(carrierhttp.Handler(c, acmeAPI(c)))
	t.Cleanup(func() {
		server.CloseClientConnections() // aborts requests that hang
		server.Close()
	})
	return server.URL
}

func newAcme(t testing.TB, c *portingtest.Carrier) porting.Gateway {
	t.Helper()
	return &acmeGateway{url: serveAcme(t, c)}
}

// ask sends a request to Acme. It returns CodeNotFound if Acme has no such order, and a *porting.Refusal if Acme refuses.
func (a *acmeGateway) ask(ctx context.Context, method, path string, body acmeOrder) (o acmeOrder, err error) {
	content, err := json.Marshal(body)
	if err != nil {
		return o, err
	}
	r, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(content))
	if err != nil {
		return o, err
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return o, err
	}
	defer func() { _ = reply.Body.Close() }()
	if err := json.NewDecoder(reply.Body).Decode(&o); err != nil {
		return o, fmt.Errorf("acme answers %s: %w", reply.Status, err)
	}
	switch {
	case reply.StatusCode == http.StatusNotFound:
		return o, callwright.NotFound("order")
	case reply.StatusCode == http.StatusUnprocessableEntity && o.Reason != "":
		return o, &porting.Refusal{Failure: porting.Failure{Code: porting.FailureCode(o.Reason)}}
	case reply.StatusCode != http.StatusOK || o.ID == "":
		return o, fmt.Errorf("acme answers %s", reply.Status)
	}
	return o, nil
}

func (*acmeGateway) Capabilities() porting.Capabilities {
	return porting.Capabilities{Name: "acme", MaxNumbers: 10}
}

func (*acmeGateway) CheckNumbers(context.Context, []callwright.PhoneNumber) ([]porting.Portability, error) {
	return nil, callwright.ErrNotImplemented
}

func (a *acmeGateway) Submit(ctx context.Context, s porting.Submission) (porting.Receipt, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o, err := a.ask(ctx, http.MethodGet, "/orders?note="+url.QueryEscape(s.Key), acmeOrder{})
	if errors.Is(err, callwright.ErrNotFound) || a.careless {
		wanted := acmeOrder{Note: s.Key}
		for _, number := range s.Numbers {
			wanted.Numbers = append(wanted.Numbers, acmeNumber{Number: string(number)})
		}
		o, err = a.ask(ctx, http.MethodPost, "/orders", wanted)
	}
	return porting.Receipt{Ref: o.ID}, err
}

func (a *acmeGateway) Cancel(ctx context.Context, o porting.Order) error {
	_, err := a.ask(ctx, http.MethodDelete, "/orders/"+url.PathEscape(o.Ref), acmeOrder{})
	return err
}

func (a *acmeGateway) Snapshot(ctx context.Context, o porting.Order) (shot porting.Snapshot, err error) {
	has, err := a.ask(ctx, http.MethodGet, "/orders/"+url.PathEscape(o.Ref), acmeOrder{})
	for _, n := range has.Numbers {
		number := porting.NumberSnapshot{Number: callwright.PhoneNumber(n.Number), State: acmeStatuses[n.Status], FOC: n.Date}
		if number.State == porting.NumberPorted {
			number.PortedAt = n.Date
		}
		if n.Reason != "" { // a real gateway must translate its carrier's reasons
			number.Failure = &porting.Failure{Code: porting.FailureCode(n.Reason), Raw: n.Reason}
		}
		shot.Numbers = append(shot.Numbers, number) // an unknown status leaves State empty
	}
	shot.Version, shot.CancelRefused = has.Version, has.Kept && !o.CancelAskedAt.IsZero()
	return shot, err
}

// ReadEvents checks the signature of a message from Acme, and returns its hint.
func (*acmeGateway) ReadEvents(header map[string][]string, body []byte) ([]porting.Hint, error) {
	given := header["Acme-Signature"]
	if len(given) != 1 || !hmac.Equal([]byte(given[0]), acmeSignature(body)) {
		return nil, callwright.ErrAuthFailure
	}
	event, order, ok := strings.Cut(string(body), " of ")
	if !ok {
		return nil, callwright.Invalid("", "must be an event of Acme")
	}
	return []porting.Hint{{Event: event, Ref: order}}, nil
}

func acmeSignature(body []byte) []byte {
	mac := hmac.New(sha256.New, []byte("acme's secret"))
	mac.Write(body)
	return []byte(hex.EncodeToString(mac.Sum(nil)))
}

// acmeEvent returns the signed message with which Acme sends an event.
func acmeEvent(e portingtest.CarrierEvent) portingtest.GatewayEvent {
	body := []byte(e.ID + " of " + e.Ref)
	return portingtest.GatewayEvent{Header: map[string][]string{"Acme-Signature": {string(acmeSignature(body))}}, Body: body}
}

func TestRunCarrierGatewayPassesARightGateway(t *testing.T) {
	t.Parallel()
	portingtest.RunCarrierGateway(t, portingtest.CarrierGateway{New: newAcme, Event: acmeEvent})
}

// wrongAcme is a gateway that passes the results of Submit, Cancel and Snapshot, nil or an error, through change.
type wrongAcme struct {
	porting.Gateway

	change func(error) error
}

func (w wrongAcme) Submit(ctx context.Context, s porting.Submission) (porting.Receipt, error) {
	r, err := w.Gateway.Submit(ctx, s)
	return r, w.change(err)
}

func (w wrongAcme) Cancel(ctx context.Context, o porting.Order) error {
	return w.change(w.Gateway.Cancel(ctx, o))
}

func (w wrongAcme) Snapshot(ctx context.Context, o porting.Order) (porting.Snapshot, error) {
	s, err := w.Gateway.Snapshot(ctx, o)
	return s, w.change(err)
}

func TestRunCarrierGatewayCatchesFaults(t *testing.T) {
	t.Parallel()
	wrong := func(change func(error) error) func(testing.TB, *portingtest.Carrier) porting.Gateway {
		return func(t testing.TB, c *portingtest.Carrier) porting.Gateway { return wrongAcme{newAcme(t, c), change} }
	}
	always := func(to error) func(error) error {
		return func(err error) error {
			if err != nil {
				return to
			}
			return nil
		}
	}
	for name, test := range map[string]struct {
		caughtBy string
		make     func(t testing.TB, c *portingtest.Carrier) porting.Gateway
	}{
		"orders without a look": {
			"a submission: loses reply",
			func(t testing.TB, c *portingtest.Carrier) porting.Gateway {
				t.Helper()
				return &acmeGateway{url: serveAcme(t, c), careless: true}
			},
		},
		"takes an outage for a refusal": {
			"a submission: unavailable", wrong(always(&porting.Refusal{Failure: porting.Failure{Code: porting.OtherFailure}})),
		},
		"takes an outage for an absent order": {"a snapshot: unauthorized", wrong(always(callwright.NotFound("order")))},
		"hides that nothing was canceled":     {"a cancellation: garbled", wrong(always(nil))},
		"gives up for good": {"a snapshot: hangs", func() func(testing.TB, *portingtest.Carrier) porting.Gateway {
			return func(t testing.TB, c *portingtest.Carrier) porting.Gateway {
				var last error
				return wrongAcme{newAcme(t, c), func(err error) error {
					if last == nil {
						last = err
					}
					return last
				}}
			}
		}()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if reports := portingtest.CheckCarrierGateway(t, portingtest.CarrierGateway{New: test.make}, test.caughtBy); len(reports) == 0 {
				t.Errorf("%q reports nothing", test.caughtBy)
			}
		})
	}
}

// A scripted carrier reproduces difficult behavior of real carriers: this one is unreachable at first, holds the order up because of an
// invalid PIN, and sends events late and twice.
func ExampleCarrier() {
	outages := 1
	carrier := portingtest.NewCarrier(portingtest.CarrierScript{
		Steps: []portingtest.CarrierStep{
			{State: porting.NumberInProgress, Event: portingtest.SentLate},
			{Failure: porting.PINInvalid},
			{}, // a step without news
			{State: porting.NumberPorted, Event: portingtest.SentTwice},
		},
		Fault: func() portingtest.Fault {
			if outages--; outages >= 0 {
				return portingtest.Unavailable
			}
			return portingtest.NoFault
		},
	})
	server := httptest.NewServer(carrierhttp.Handler(carrier, acmeAPI(carrier)))
	defer server.Close()
	ctx, gateway := context.Background(), &acmeGateway{url: server.URL}
	order := porting.Order{Key: "request-1:1", Numbers: []callwright.PhoneNumber{"+14155550100"}}
	for range 2 {
		receipt, err := gateway.Submit(ctx, porting.Submission{Order: order})
		fmt.Println("submit:", receipt.Ref, err != nil)
		order.Ref = receipt.Ref
	}
	for range 4 {
		carrier.Step()
		shot, _ := gateway.Snapshot(ctx, order)
		fmt.Println(shot.Numbers[0].State, shot.Numbers[0].Failure)
	}
	for _, e := range carrier.Events(order.Ref) {
		fmt.Print(e.ID, " ")
	}
	// Output:
	// submit:  true
	// submit: order-1 false
	// in_progress <nil>
	// in_progress &{pin_invalid pin_invalid}
	// in_progress &{pin_invalid pin_invalid}
	// ported <nil>
	// order-1-1 order-1-3 order-1-2 order-1-4 order-1-4
}
