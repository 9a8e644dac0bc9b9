package porting_test

import (
	"context"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/porting"
)

// hands implements callwright.Work and Clock for benchmarks, which run tasks and set the time explicitly.
type hands struct {
	now      time.Time
	handlers map[string]callwright.Handler
	tasks    []callwright.Task
}

func (h *hands) Now() time.Time { return h.now }

func (h *hands) Handle(_ callwright.Queue, kind string, do callwright.Handler) { h.handlers[kind] = do }

func (*hands) Every(callwright.Queue, string, time.Duration, callwright.Handler) {}

func (h *hands) Enqueue(_ context.Context, t callwright.Task) error {
	h.tasks = append(h.tasks, t)
	return nil
}

// work runs the enqueued tasks, including the tasks that they enqueue, until none is left.
func (h *hands) work(b *testing.B) {
	b.Helper()
	for len(h.tasks) > 0 {
		t := h.tasks[0]
		h.tasks = h.tasks[1:]
		if err := h.handlers[t.Kind](b.Context(), t, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// byHand returns a service in memory that sends no mail, and the hands that run its durable work.
func byHand(b *testing.B) (*porting.Service, *hands) {
	b.Helper()
	memory := memstore.New()
	h := &hands{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), handlers: map[string]callwright.Handler{}}
	carrier, err := portgateway.NewSimulated(portgateway.SimulatedConfig{Runtime: callwright.Runtime{Clock: h}})
	if err != nil {
		b.Fatal(err)
	}
	w := &world{told: map[string]int{}, mails: map[string]int{}, inbound: map[callwright.PhoneNumber]int{}}
	s, err := porting.New(porting.Config{
		Store: portingstore.Requests{Store: memory}, Atomic: memory, Work: h, Gateway: carrier, Documents: w, Letters: w, Inbound: w,
		Notifier: silent{}, URLs: w, Mailer: silent{}, Runtime: callwright.Runtime{Clock: h},
	})
	if err != nil {
		b.Fatal(err)
	}
	return s, h
}

// silent discards mails and messages.
type silent struct{}

func (silent) SendMail(context.Context, string, string, string, string) error { return nil }

func (silent) NotifyPort(context.Context, string, porting.Request, porting.Entry) error { return nil }

// signedIn returns a request whose letter is signed and whose order the carrier has received.
func signedIn(b *testing.B, s *porting.Service, h *hands) porting.Request {
	b.Helper()
	r, _, err := s.Initiate(b.Context(), org, draft("00", "01", "02"))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Sign(b.Context(), org, r.ID, porting.Signer, "signature 1"); err != nil {
		b.Fatal(err)
	}
	return pollOrders(b, s, h, r.ID)
}

// pollOrders runs all tasks, and returns the current state of a request.
func pollOrders(b *testing.B, s *porting.Service, h *hands, id string) porting.Request {
	b.Helper()
	h.work(b)
	r, err := s.Get(b.Context(), org, id)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// BenchmarkWalk ports three numbers, from Initiate to the last mail and the last webhook message.
func BenchmarkWalk(b *testing.B) {
	s, h := byHand(b)
	b.ReportAllocs()
	for b.Loop() {
		r := signedIn(b, s, h)
		for days := 0; !r.State.Ended(); days++ {
			if days == 30 {
				b.Fatalf("%+v", r)
			}
			h.now = h.now.Add(day)
			if err := s.Hear(b.Context(), r.Gateway, porting.Hint{Ref: r.Ref}); err != nil {
				b.Fatal(err)
			}
			r = pollOrders(b, s, h, r.ID)
		}
		if r.State != porting.Completed {
			b.Fatal(r.State, r.Failure)
		}
	}
}

// BenchmarkStep measures one step of a request with three numbers whose order has not changed.
func BenchmarkStep(b *testing.B) {
	s, h := byHand(b)
	r := signedIn(b, s, h)
	b.ReportAllocs()
	for b.Loop() {
		h.now = h.now.Add(time.Microsecond)
		err := h.handlers["porting.step"](b.Context(), callwright.Task{Kind: "porting.step", Key: r.ID, Org: org}, 1)
		if err != nil {
			b.Fatal(err)
		}
	}
}
