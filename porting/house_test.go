package porting_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/porting"
)

const (
	org  = callwright.OrgID("a")
	hook = "https://hooks.example/ports"
	day  = 24 * time.Hour
)

// house contains a porting service and the fakes that it depends on.
type house struct {
	*porting.Service

	t       *testing.T
	store   portingstore.Requests
	gateway porting.Gateway
	world   *world
}

// inHouse runs a test with a new house in a synctest bubble, where the waits of durable work take no real time.
func inHouse(t *testing.T, test func(t *testing.T, h *house), change ...func(*porting.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		memory := memstore.New()
		work := memstore.NewWork(memory, nil)
		carrier, err := portgateway.NewSimulated(portgateway.SimulatedConfig{})
		if err != nil {
			t.Fatal(err)
		}
		h := &house{t: t, store: portingstore.Requests{Store: memory}, world: &world{told: map[string]int{}, mails: map[string]int{}, inbound: map[callwright.PhoneNumber]int{}}}
		c := porting.Config{
			Store: h.store, Atomic: memory, Work: work, Gateway: carrier, Documents: h.world, Letters: h.world, Inbound: h.world,
			Notifier: h.world, URLs: h.world, Mailer: h.world,
		}
		for _, f := range change {
			f(&c)
		}
		h.gateway = c.Gateway
		if h.Service, err = porting.New(c); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = work.Run(ctx) })
		test(t, h)
		stop()
		running.Wait()
	})
}

// draft returns a draft with one number +141555501xx for each pair of digits.
func draft(digits ...string) porting.Draft {
	d := porting.Draft{
		Account: porting.Account{
			CustomerType: porting.Business, BusinessName: "Acme Bakery", FirstName: "Robin", LastName: "Doe", AccountNumber: "88231",
			Email: "robin@example.com", NotifyEmails: []string{"ops@example.com"},
			Address: porting.Address{Street: "1 Main Street", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
		},
		PIN: "4711", Documents: []string{"doc_1"}, Webhook: hook,
	}
	for _, last := range digits {
		d.Numbers = append(d.Numbers, porting.NumberDraft{Number: "+141555501" + last})
	}
	return d
}

func (h *house) initiate(digits ...string) porting.Request {
	h.t.Helper()
	r, letter, err := h.Initiate(h.t.Context(), org, draft(digits...))
	if err != nil || letter.URL.Reveal() != "https://x.example/loa/"+r.ID {
		h.t.Fatal(letter.URL.Reveal(), err)
	}
	return r
}

// signed creates a request, signs its letter, and returns the signed request.
func (h *house) signed(digits ...string) porting.Request {
	h.t.Helper()
	r, err := h.Sign(h.t.Context(), org, h.initiate(digits...).ID, porting.Signer, "signature 1")
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// sleep waits for d, and then until the durable work that is due by then is done.
func (h *house) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// after waits for d, and returns the current state of a request.
func (h *house) after(d time.Duration, id string) porting.Request {
	h.t.Helper()
	h.sleep(d)
	r, err := h.Get(h.t.Context(), org, id)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// events returns the events and actors of a request's history as text. It reports an error if the entries are not consecutive.
func (h *house) events(id string) string {
	h.t.Helper()
	history, err := h.History(h.t.Context(), org, id)
	if err != nil {
		h.t.Fatal(err)
	}
	var all []string
	for i, e := range history {
		if e.Number != i+1 || i > 0 && (e.From != history[i-1].To || e.At.Before(history[i-1].At)) {
			h.t.Errorf("entry %d is %+v", i+1, e)
		}
		all = append(all, fmt.Sprintf("%s by %s", e.Event, e.Actor))
	}
	return strings.Join(all, ", ")
}

// wantEnd checks that a request and its numbers have ended with the given states, that the PINs are deleted, and that a notice was sent
// about every history entry. Only ported numbers may be registered for calls, and only rejected numbers may have a failure.
func (h *house) wantEnd(r porting.Request, state porting.State, numbers ...porting.NumberState) {
	h.t.Helper()
	var got []porting.NumberState
	for _, n := range r.Numbers {
		got = append(got, n.State)
		if n.PIN != "" || !n.HasPIN {
			h.t.Errorf("%s: the PIN of %s is kept, or forgotten to have been given", state, n.Number)
		}
		if (n.State == porting.NumberPorted) != (n.Inbound != porting.NotRegistered) || (n.State == porting.NumberRejected) != (n.Failure != nil) {
			h.t.Errorf("the number ends as %+v", n)
		}
	}
	if r.State != state || !slices.Equal(got, numbers) || r.EndedAt.IsZero() || !r.DueAt.IsZero() {
		h.t.Errorf("%s with %v, due %s, history %s; want %s with %v", r.State, got, r.DueAt, h.events(r.ID), state, numbers)
	}
	for i := range r.Entries {
		if told := h.world.toldOf(fmt.Sprintf("%s/%d", r.ID, i+1)); told == 0 {
			h.t.Errorf("nobody was told of entry %d of %s", i+1, h.events(r.ID))
		}
	}
}

// world implements the service's ports for documents, letters, inbound registration, notices, URLs and mail. It records all mails, resent
// and revoked letters, and successful registrations and notices.
type world struct {
	mu       sync.Mutex
	told     map[string]int // number of notices by id
	untold   int            // number of notices that still fail
	mails    map[string]int // number of mails by id
	letters  []string       // recipient, subject and text of every mail
	resent   int
	revoked  []string
	inbound  map[callwright.PhoneNumber]int
	failures []error // errors of the next registrations, in order
}

func (*world) UseDocuments(_ context.Context, _ callwright.OrgID, _ string, ids []string) (absent []string, err error) {
	for _, id := range ids {
		if id != "doc_1" && id != "doc_2" {
			absent = append(absent, id)
		}
	}
	return absent, nil
}

func (*world) SendLetter(_ context.Context, r porting.Request) (porting.Letter, error) {
	return porting.Letter{URL: callwright.Secret("https://x.example/loa/" + r.ID)}, nil
}

func (w *world) ResendLetter(_ context.Context, r porting.Request) (porting.Letter, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resent++
	return porting.Letter{URL: callwright.Secret("https://x.example/loa/again/" + r.ID)}, nil
}

func (w *world) CheckURL(url string) error {
	if url != hook {
		return callwright.Invalid("", "is not public")
	}
	return nil
}

// mailed reports whether a mail to an address contains all of the given texts in its subject or text.
func (w *world) mailed(to string, texts ...string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.letters, func(mail string) bool {
		return strings.HasPrefix(mail, to+": ") && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(mail, text) })
	})
}

func (w *world) SendMail(_ context.Context, id, to, subject, text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mails[id]++
	w.letters = append(w.letters, to+": "+subject+"\n"+text)
	return nil
}

func (w *world) RevokeLetter(_ context.Context, _ callwright.OrgID, request string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revoked = append(w.revoked, request)
	return nil
}

func (w *world) RegisterInbound(_ context.Context, _ callwright.OrgID, number callwright.PhoneNumber) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.failures) > 0 {
		err := w.failures[0]
		w.failures = w.failures[1:]
		return err
	}
	w.inbound[number]++
	return nil
}

func (w *world) NotifyPort(_ context.Context, id string, _ porting.Request, _ porting.Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.untold > 0 {
		w.untold--
		return errors.New("the mail server is away")
	}
	w.told[id]++
	return nil
}

func (w *world) toldOf(id string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told[id]
}

// wantError checks that an error is a *callwright.Error with the given code and field.
func wantError(t *testing.T, name string, err error, code callwright.Code, field string) {
	t.Helper()
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || e.Code != code || e.Field != field {
		t.Errorf("%s: got %v, want %s about %q", name, err, code, field)
	}
}
