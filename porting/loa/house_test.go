package loa_test

import (
	"context"
	"errors"
	"maps"
	"regexp"
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
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/loa/loatest"
)

const (
	org = callwright.OrgID("a")
	day = 24 * time.Hour
	key = callwright.Secret("0123456789abcdef0123456789abcdef")
)

// house contains a letter service and the porting service that it is attached to.
type house struct {
	*loa.Service

	t       *testing.T
	ports   *porting.Service
	store   loa.Store
	mailbox *mailbox
	work    *work
}

// inHouse runs a test with a new house in a synctest bubble, where the waits of durable work take no real time.
func inHouse(t *testing.T, test func(t *testing.T, h *house), change ...func(*loa.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		memory := memstore.New()
		h := &house{t: t, store: portingstore.Letters{Store: memory}, mailbox: &mailbox{ids: map[string]int{}}}
		tasks := memstore.NewWork(memory, nil)
		h.work = &work{Work: tasks, handlers: map[string]callwright.Handler{}}
		c := loa.Config{Provider: "Acme Telecom",
			Store: h.store, Atomic: memory, Work: h.work, Mailer: h.mailbox, Renderer: loatest.Plain{}, Key: key,
			URL: func(token string) string { return "https://x.example/loa/" + token },
		}
		for _, f := range change {
			f(&c)
		}
		var err error
		if h.Service, err = loa.New(c); err != nil {
			t.Fatal(err)
		}
		h.ports = newPorts(t, memory, tasks, h.Service)
		h.Attach(h.ports)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = tasks.Run(ctx) })
		test(t, h)
		stop()
		running.Wait()
	})
}

// newPorts returns a porting service that sends no mail, because it has no Mailer.
func newPorts(t *testing.T, memory *memstore.Store, tasks *memstore.Work, letters porting.Letters) *porting.Service {
	t.Helper()
	carrier, err := portgateway.NewSimulated(portgateway.SimulatedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ports, err := porting.New(porting.Config{
		Store: portingstore.Requests{Store: memory}, Atomic: memory, Work: tasks, Gateway: carrier, Documents: world{}, Letters: letters,
		Inbound: world{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return ports
}

// world implements the documents and inbound numbers of porting.Config, and does nothing.
type world struct{}

func (world) UseDocuments(context.Context, callwright.OrgID, string, []string) ([]string, error) {
	return nil, nil
}

func (world) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

// work runs every task again after it has succeeded, and records the handlers of tasks and of periodic work.
type work struct {
	callwright.Work

	handlers map[string]callwright.Handler
}

func (w *work) Handle(q callwright.Queue, kind string, h callwright.Handler) {
	w.handlers[kind] = h
	w.Work.Handle(q, kind, func(ctx context.Context, task callwright.Task, attempt int) error {
		if err := h(ctx, task, attempt); err != nil {
			return err
		}
		return h(ctx, task, attempt) // as if a worker crashed before it recorded the success
	})
}

func (w *work) Every(q callwright.Queue, kind string, interval time.Duration, h callwright.Handler) {
	w.handlers[kind] = h
	w.Work.Every(q, kind, interval, h)
}

// mailed is a mail that the mailbox has accepted.
type mailed struct{ id, to, subject, text string }

// mailbox is a Mailer that records mails. It can be made to fail.
type mailbox struct {
	mu    sync.Mutex
	mails []mailed
	ids   map[string]int // number of accepted mails by id
	fail  func() error   // if nil, every mail is accepted
	tries int
}

func (m *mailbox) SendMail(_ context.Context, id, to, subject, text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tries++
	if m.fail != nil {
		if err := m.fail(); err != nil {
			return err
		}
	}
	m.ids[id]++
	m.mails = append(m.mails, mailed{id, to, subject, text})
	return nil
}

// failing makes all later attempts return err. A nil err makes them succeed.
func (m *mailbox) failing(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = func() error { return err }
}

func (m *mailbox) all() []mailed {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]mailed(nil), m.mails...)
}

// attempts returns the number of attempts to send a mail, including failed ones.
func (m *mailbox) attempts() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tries
}

// wantOnce checks that no mail was sent twice. It returns the ids of the mails in order, without the ids of their requests.
func (m *mailbox) wantOnce(t *testing.T) string {
	t.Helper()
	m.mu.Lock()
	ids := maps.Clone(m.ids)
	m.mu.Unlock()
	for id, count := range ids {
		if count > 1 {
			t.Errorf("%s was sent %d times", id, count)
		}
	}
	var kinds []string
	for _, one := range m.all() {
		_, kind, _ := strings.Cut(one.id, ".loa.")
		kinds = append(kinds, kind)
	}
	return strings.Join(kinds, " ")
}

var link = regexp.MustCompile(`https://x\.example/loa/(\S+)`)

// token returns the token in the link of the newest mail.
func (h *house) token() callwright.Secret {
	h.t.Helper()
	mails := h.mailbox.all()
	if len(mails) == 0 {
		h.t.Fatal("there is no mail")
	}
	found := link.FindStringSubmatch(mails[len(mails)-1].text)
	if found == nil {
		h.t.Fatalf("the mail has no link:\n%s", mails[len(mails)-1].text)
	}
	return callwright.Secret(found[1])
}

// draft returns a draft with one number +141555501xx for each pair of digits.
func draft(digits ...string) porting.Draft {
	d := porting.Draft{
		Account: porting.Account{
			CustomerType: porting.Business, BusinessName: "Acme Bakery", FirstName: "Zo\u00eb", LastName: "O'Doe", AccountNumber: "55588231",
			Email:   "zoe@example.com",
			Address: porting.Address{Street: "1 Main Street", Street2: "Suite 2", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
		},
		PIN: "4711", Documents: []string{"doc_1"}, TargetDate: time.Now().Add(60 * day),
	}
	for _, last := range digits {
		d.Numbers = append(d.Numbers, porting.NumberDraft{Number: "+141555501" + last})
	}
	return d
}

// initiated creates a request, and waits until the service has tried to mail its letter. It returns the request and the token of the
// letter's link.
func (h *house) initiated(change ...func(*porting.Draft)) (porting.Request, callwright.Secret) {
	h.t.Helper()
	d := draft("00", "01")
	for _, f := range change {
		f(&d)
	}
	r, letter, err := h.ports.Initiate(h.t.Context(), org, d)
	if err != nil {
		h.t.Fatal(err)
	}
	token, ok := strings.CutPrefix(letter.URL.Reveal(), "https://x.example/loa/")
	if !ok {
		h.t.Fatal(letter.URL.Reveal())
	}
	h.sleep(time.Second)
	return r, callwright.Secret(token)
}

// sleep waits for d, and then until the durable work that is due by then is done.
func (h *house) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// signature returns a valid signature for the letter of a request. The name and the user agent are not in the form in which they are
// recorded.
func (h *house) signature(r porting.Request) loa.Signature {
	h.t.Helper()
	l, err := h.Letter(h.t.Context(), org, r.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return loa.Signature{
		Name: " zo\u00eb  O\u2019DOE ", Title: "Owner", Consent: true, Authority: true, SHA256: l.SHA256,
		Origin: loa.Origin{IP: "192.0.2.7", UserAgent: "Mozilla/5.0 \u00fc\n"},
	}
}

// trail verifies the evidence of a letter, and returns the kinds of its events, separated by slashes.
func (h *house) trail(r porting.Request) string {
	h.t.Helper()
	e, err := h.Evidence(h.t.Context(), org, r.ID)
	letter, pdfErr := h.store.PDF(h.t.Context(), org, r.ID, false)
	signed, signedErr := h.store.PDF(h.t.Context(), org, r.ID, true)
	if errors.Is(signedErr, callwright.ErrNotFound) {
		signedErr = nil
	}
	if err := errors.Join(err, pdfErr, signedErr, loa.Verify(e, letter, signed)); err != nil {
		h.t.Error(err)
	}
	var kinds []string
	for _, v := range e.Events {
		kinds = append(kinds, string(v.Kind))
	}
	return strings.Join(kinds, "/")
}

// want checks the states of a letter and its request, and the kinds of the events in the audit trail.
func (h *house) want(r porting.Request, letter loa.State, request porting.State, trail string) {
	h.t.Helper()
	l, err := h.Letter(h.t.Context(), org, r.ID)
	got, getErr := h.ports.Get(h.t.Context(), org, r.ID)
	if err := errors.Join(err, getErr); err != nil {
		h.t.Fatal(err)
	}
	if l.State != letter || (letter == loa.Waiting) != l.EndedAt.IsZero() || letter != loa.Waiting && !l.DueAt.IsZero() {
		h.t.Errorf("the letter is %s, ended %s, due %s; want %s", l.State, l.EndedAt, l.DueAt, letter)
	}
	if got.State != request {
		h.t.Errorf("the request is %s, want %s", got.State, request)
	}
	if found := h.trail(r); found != trail {
		h.t.Errorf("the trail is %q, want %q", found, trail)
	}
}

// wantError checks that an error is a *callwright.Error with the given code and field.
func wantError(t *testing.T, name string, err error, code callwright.Code, field string) {
	t.Helper()
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || e.Code != code || e.Field != field {
		t.Errorf("%s: got %v, want %s about %q", name, err, code, field)
	}
}
