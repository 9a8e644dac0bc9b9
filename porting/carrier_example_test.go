package porting_test

import (
	"context"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/porting"
)

// acme is an example of a gateway to your own carrier. A real gateway calls the carrier's API where the methods below contain a comment.
type acme struct{ state porting.NumberState }

func (*acme) Capabilities() porting.Capabilities {
	return porting.Capabilities{Name: "acme", MaxNumbers: 10, CutOff: 48 * time.Hour}
}

func (*acme) CheckNumbers(context.Context, []callwright.PhoneNumber) ([]porting.Portability, error) {
	return nil, callwright.ErrNotImplemented // Check then derives the portability from the number alone
}

func (*acme) Submit(_ context.Context, s porting.Submission) (porting.Receipt, error) {
	return porting.Receipt{Ref: "acme-" + s.Key}, nil // POST the account and the numbers, with s.Key as the idempotency key
}

func (*acme) Cancel(context.Context, porting.Order) error {
	return &porting.Refusal{Failure: porting.Failure{Code: porting.OtherFailure}} // this carrier refuses cancellations
}

func (a *acme) Snapshot(_ context.Context, o porting.Order) (porting.Snapshot, error) {
	var shot porting.Snapshot // GET the order o.Ref
	for _, number := range o.Numbers {
		n := porting.NumberSnapshot{Number: number, State: a.state, FOC: monday, PortedAt: monday}
		shot.Numbers = append(shot.Numbers, n)
	}
	return shot, nil
}

// To connect your own carrier, implement the five methods of Gateway. Have your event handler call Hear. The service also polls Snapshot at
// intervals, in case an event is lost.
func ExampleGateway() {
	ctx, stop := context.WithCancel(context.Background())
	memory, carrier, office := memstore.New(), &acme{porting.NumberInProgress}, make(desk)
	work := memstore.NewWork(memory, nil)
	ports, err := porting.New(porting.Config{
		Store: portingstore.Requests{Store: memory}, Atomic: memory, Work: work, Gateway: carrier,
		Documents: office, Letters: office, Inbound: office, Mailer: office,
	})
	fmt.Println(err)
	done := make(chan error)
	go func() { done <- work.Run(ctx) }()
	r, _, err := ports.Initiate(ctx, "bakery", anywhere)
	show := func(mails int, err error) {
		for range mails {
			<-office // each change sends the customer a mail
		}
		r, _ = ports.Get(ctx, "bakery", r.ID)
		fmt.Println(r.State, r.Numbers[0].State, err)
	}
	show(1, err)
	_, err = ports.Sign(ctx, "bakery", r.ID, porting.Operator, "signed on paper")
	show(2, err)
	for _, carrier.state = range []porting.NumberState{porting.NumberConfirmed, porting.NumberPorted} {
		show(1, ports.Hear(ctx, "acme", porting.Hint{Event: "1", Ref: r.Ref}))
	}
	stop()
	fmt.Println("calls to it:", r.Numbers[0].Inbound, <-done)
	// Output:
	// <nil>
	// waiting_for_signature pending <nil>
	// in_progress in_progress <nil>
	// in_progress foc_confirmed <nil>
	// completed ported <nil>
	// calls to it: registered <nil>
}

// monday is the time at which the losing carrier releases the numbers.
var monday = time.Date(2030, 6, 3, 16, 0, 0, 0, time.UTC)

// anywhere is a minimal draft with one number, for a personal account.
var anywhere = porting.Draft{
	Numbers: []porting.NumberDraft{{Number: "+14155550100"}}, Documents: []string{"bill"},
	Account: porting.Account{
		CustomerType: porting.Personal, FirstName: "Robin", LastName: "Doe", AccountNumber: "88231", Email: "robin@example.com",
		Address: porting.Address{Street: "1 Main Street", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
	},
}

// desk replaces document.Service, loa.Service, agents.Service and a mail server. Each mail sends a value to the channel. The letters are
// signed on paper.
type desk chan struct{}

func (desk) UseDocuments(context.Context, callwright.OrgID, string, []string) ([]string, error) {
	return nil, nil
}

func (desk) SendLetter(context.Context, porting.Request) (porting.Letter, error) {
	return porting.Letter{}, nil
}

func (desk) ResendLetter(context.Context, porting.Request) (porting.Letter, error) {
	return porting.Letter{}, nil
}

func (desk) RevokeLetter(context.Context, callwright.OrgID, string) error { return nil }

func (desk) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

func (d desk) SendMail(context.Context, string, string, string, string) error {
	d <- struct{}{}
	return nil
}
