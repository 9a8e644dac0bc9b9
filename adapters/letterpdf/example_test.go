package letterpdf_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/letterpdf"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
)

// office contains the services that port numbers, connected with each other.
type office struct {
	documents *document.Service
	letters   *loa.Service
	ports     *porting.Service
	work      *memstore.Work
	mails     outbox
}

// newOffice connects the services, with stores in memory. bunstore/portingstore and riverwork store the same data in SQLite or PostgreSQL.
func newOffice() (*office, error) {
	memory := memstore.New()
	o := &office{work: memstore.NewWork(memory, nil), mails: make(outbox, 10)}
	carrier, carrierErr := portgateway.NewSimulated(portgateway.SimulatedConfig{})
	renderer, rendererErr := letterpdf.New()
	if err := errors.Join(carrierErr, rendererErr); err != nil {
		return nil, err
	}
	var err error
	if o.documents, err = document.New(document.Config{
		Store: portingstore.Documents{Store: memory}, Blobs: portingstore.Blobs{Store: memory}, Work: o.work,
	}); err != nil {
		return nil, err
	}
	if o.letters, err = loa.New(loa.Config{
		Store: portingstore.Letters{Store: memory}, Atomic: memory, Work: o.work, Mailer: o.mails, Renderer: renderer,
		Provider: "Acme Telecom", Key: "a secret of at least 32 bytes, always the same", URL: func(token string) string { return signing + token },
	}); err != nil {
		return nil, err
	}
	if o.ports, err = porting.New(porting.Config{
		Store: portingstore.Requests{Store: memory}, Atomic: memory, Work: o.work, Gateway: carrier, Documents: o.documents,
		Letters: o.letters, Inbound: inbound{}, Mailer: o.mails,
	}); err != nil {
		return nil, err
	}
	o.letters.Attach(o.ports) // before the work starts and any letter can be signed
	return o, nil
}

// The example ports a number with three services, which keep their data and their tasks in memory. The simulated carrier ports no real
// number.
func Example() {
	o, err := newOffice()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- o.work.Run(ctx) }()

	bill, err := o.documents.Upload(ctx, "bakery", strings.NewReader("%PDF-1.7 of a bill"))
	fmt.Println(bill.Type, err)
	r, letter, err := o.ports.Initiate(ctx, "bakery", porting.Draft{
		Numbers: []porting.NumberDraft{{Number: "+14155550100"}}, Documents: []string{bill.ID},
		Account: porting.Account{
			CustomerType: porting.Personal, FirstName: "Robin", LastName: "Doe", AccountNumber: "88231", Email: "robin@example.com",
			Address: porting.Address{Street: "1 Main Street", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
		},
	})
	fmt.Println(r.State, err)
	fmt.Println("mailed to", <-o.mails)

	// In production, the signing page of portingapi shows and signs the letter for the bearer of the link.
	token := callwright.Secret(strings.TrimPrefix(letter.URL.Reveal(), signing))
	shown, err := o.letters.Show(ctx, token)
	fmt.Println(shown.Text.Title, err)
	shown, err = o.letters.Sign(ctx, token, loa.Signature{Name: "Robin Doe", Consent: true, Authority: true, SHA256: shown.Letter.SHA256})
	fmt.Println(shown.Letter.State, err)
	r, err = o.ports.Get(ctx, "bakery", r.ID)
	fmt.Println(r.State, err)
	stop()
	fmt.Println(<-done)
	// Output:
	// application/pdf <nil>
	// waiting_for_signature <nil>
	// mailed to robin@example.com
	// Letter of Authorization <nil>
	// signed <nil>
	// submitted <nil>
	// <nil>
}

// signing is the URL prefix of the signing pages. The token of the letter follows it.
const signing = "https://porting.example.com/loa/"

// outbox replaces a mail server, such as mail.SMTP. It receives the recipient of each mail.
type outbox chan string

func (o outbox) SendMail(_ context.Context, _, to, _, _ string) error {
	o <- to
	return nil
}

// inbound replaces agents.Service, which answers calls to ported numbers.
type inbound struct{}

func (inbound) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}
