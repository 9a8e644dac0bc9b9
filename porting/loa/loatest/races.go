package loatest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

// Stores are the stores of one database, and its transactions.
type Stores struct {
	Requests porting.Store
	Letters  loa.Store
	Atomic   callwright.Atomic
}

// RunRaces tests that concurrent decisions of signers, customers and operators about a letter leave its stores consistent. newStores
// returns the stores of an empty database.
func RunRaces(t *testing.T, newStores func(t *testing.T) Stores) {
	t.Helper()
	type race = func(ctx context.Context, r concurrentDecisions) error
	sign := func(ctx context.Context, r concurrentDecisions) error { return r.sign(ctx) }
	decline := func(ctx context.Context, r concurrentDecisions) error {
		_, err := r.letters.Decline(ctx, r.token, "no", loa.Origin{})
		return err
	}
	cancel := func(ctx context.Context, r concurrentDecisions) error {
		_, err := r.ports.Cancel(ctx, r.org, r.id)
		return err
	}
	resend := func(ctx context.Context, r concurrentDecisions) error {
		_, _, err := r.ports.Resend(ctx, r.org, r.id)
		return err
	}
	paper := func(ctx context.Context, r concurrentDecisions) error {
		_, err := r.ports.Sign(ctx, r.org, r.id, porting.Operator, "scan")
		return err
	}
	stores := newStores(t)
	for n, test := range []struct {
		name string
		all  []race
	}{
		{"sign against sign", []race{sign, sign, sign, sign}},
		{"sign against decline", []race{sign, decline, sign, decline}},
		{"sign against cancel", []race{sign, cancel, sign, cancel}},
		{"sign against send again", []race{sign, resend, sign, resend}},
		{"sign against a signature on paper", []race{sign, paper, sign, paper}},
		{"decline against cancel and sign", []race{decline, cancel, sign, decline}},
		{"everything against everything", []race{sign, decline, cancel, resend, paper}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for i := range 4 {
				r := newRivals(t, stores, fmt.Sprintf("+14155550%d%02d", n+1, i))
				var racing sync.WaitGroup
				for _, f := range test.all {
					racing.Go(func() {
						err := f(t.Context(), r)
						if err != nil && !errors.Is(err, callwright.ErrInvalidState) && !errors.Is(err, callwright.ErrNotFound) {
							t.Errorf("one who is late gets %v", err)
						}
					})
				}
				racing.Wait()
				r.wantOneEnd(t)
			}
		})
	}
}

// concurrentDecisions contains a letter and the services through which concurrent decisions about it are made.
type concurrentDecisions struct {
	ports   *porting.Service
	letters *loa.Service
	store   loa.Store
	org     callwright.OrgID
	id      string
	token   callwright.Secret
	hash    string
}

func newRivals(t *testing.T, s Stores, number string) concurrentDecisions {
	t.Helper()
	letters, err := loa.New(loa.Config{Provider: "Acme Telecom",
		Store: s.Letters, Atomic: s.Atomic, Work: idle{}, Mailer: nowhere{}, Renderer: Plain{}, Key: "0123456789abcdef0123456789abcdef",
		URL: func(token string) string { return token },
	})
	if err != nil {
		t.Fatal(err)
	}
	ports, err := porting.New(porting.Config{
		Store: s.Requests, Atomic: s.Atomic, Work: idle{}, Gateway: away{}, Documents: nowhere{}, Letters: letters, Inbound: nowhere{},
	})
	if err != nil {
		t.Fatal(err)
	}
	letters.Attach(ports)
	r, letter, err := ports.Initiate(t.Context(), "a", porting.Draft{
		Numbers: []porting.NumberDraft{{Number: number}}, Documents: []string{"doc_1"}, TargetDate: time.Now().Add(30 * 24 * time.Hour),
		Account: porting.Account{
			CustomerType: porting.Personal, FirstName: "Robin", LastName: "Doe", AccountNumber: "88231", Email: "robin@example.com",
			Address: porting.Address{Street: "1 Main Street", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Letters.Letter(t.Context(), "a", r.ID)
	if err != nil {
		t.Fatal(err)
	}
	return concurrentDecisions{ports, letters, s.Letters, "a", r.ID, letter.URL, l.SHA256}
}

func (r concurrentDecisions) sign(ctx context.Context) error {
	_, err := r.letters.Sign(ctx, r.token, loa.Signature{Name: "Robin Doe", Consent: true, Authority: true, SHA256: r.hash})
	return err
}

// wantOneEnd checks that a letter has ended at most once, that its port request has left the wait for the signature exactly if the letter
// has ended, and that the audit trail is complete.
func (r concurrentDecisions) wantOneEnd(t *testing.T) {
	t.Helper()
	l, err := r.letters.Letter(t.Context(), r.org, r.id)
	e, evidenceErr := r.letters.Evidence(t.Context(), r.org, r.id)
	request, getErr := r.ports.Get(t.Context(), r.org, r.id)
	history, historyErr := r.ports.History(t.Context(), r.org, r.id)
	pdf, signed, pdfErr := r.letters.LetterPDF(t.Context(), r.org, r.id)
	if err := errors.Join(err, evidenceErr, getErr, historyErr, pdfErr); err != nil {
		t.Fatal(err)
	}
	ends, events := map[loa.EventKind]int{}, map[porting.Event]int{}
	for _, v := range e.Events {
		ends[v.Kind]++
	}
	for _, h := range history {
		events[h.Event]++
	}
	if !signed {
		pdf = nil
	}
	if err := loa.Verify(e, nil, pdf); err != nil {
		t.Error(err)
	}
	want := map[loa.State][2]int{ // number of trail events that end the letter, and of history entries that end the wait
		loa.Waiting: {0, 0}, loa.Signed: {1, 1}, loa.Declined: {1, 1}, loa.Revoked: {1, 1},
	}[l.State]
	ended := ends[loa.EventSigned] + ends[loa.EventDeclined] + ends[loa.EventRevoked]
	left := 0
	for _, h := range history {
		if h.From == porting.WaitingForSignature && h.To != porting.WaitingForSignature {
			left++
		}
	}
	sealed := l.State == loa.Signed
	if ended != want[0] || left != want[1] || sealed != signed || sealed != (ends[loa.EventSealed] == 1) ||
		(l.State == loa.Declined) != (events[porting.Declined] == 1) || sealed && request.SignedAt.IsZero() ||
		(l.State == loa.Waiting) != (request.State == porting.WaitingForSignature) || ends[loa.EventResent] != l.Link-1 {
		t.Errorf("the letter is %s with %v, the request %s with %v", l.State, ends, request.State, events)
	}
}

// idle is a Work that runs no tasks.
type idle struct{}

func (idle) Enqueue(context.Context, callwright.Task) error                    { return nil }
func (idle) Handle(callwright.Queue, string, callwright.Handler)               {}
func (idle) Every(callwright.Queue, string, time.Duration, callwright.Handler) {}

// nowhere implements the ports for documents, mail and inbound numbers, and does nothing.
type nowhere struct{}

func (nowhere) SendMail(context.Context, string, string, string, string) error { return nil }

func (nowhere) UseDocuments(context.Context, callwright.OrgID, string, []string) ([]string, error) {
	return nil, nil
}

func (nowhere) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

// away is a Gateway whose carrier is unreachable.
type away struct{}

func (away) Capabilities() porting.Capabilities {
	return porting.Capabilities{Name: "away", MaxNumbers: 10}
}

func (away) CheckNumbers(context.Context, []callwright.PhoneNumber) ([]porting.Portability, error) {
	return nil, callwright.ErrNotImplemented
}

func (away) Submit(context.Context, porting.Submission) (porting.Receipt, error) {
	return porting.Receipt{}, callwright.ErrUnavailable
}

func (away) Cancel(context.Context, porting.Order) error { return callwright.ErrUnavailable }

func (away) Snapshot(context.Context, porting.Order) (porting.Snapshot, error) {
	return porting.Snapshot{}, callwright.ErrUnavailable
}
