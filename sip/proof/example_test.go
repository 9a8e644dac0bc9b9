package proof_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/proof"
)

// owner is an Announcer that simulates the person who answers a number and hears the announcement.
type owner struct{ heard chan []string }

func (o owner) Announce(_ context.Context, a proof.Announcement) error {
	o.heard <- a.Parts
	return nil
}

// numbers is a proof.Trunks that requires a proof for every number.
type numbers struct{}

func (numbers) Number(_ context.Context, _ callwright.OrgID, text string) (callwright.PhoneNumber, error) {
	return callwright.ParsePhoneNumber(text)
}

func (numbers) NeedsProof(context.Context, callwright.OrgID, callwright.PhoneNumber) (bool, error) {
	return true, nil
}

func (numbers) ProofCaller(context.Context, callwright.OrgID, callwright.PhoneNumber) (callwright.PhoneNumber, error) {
	return "+15557654321", nil
}

func (numbers) Holder(context.Context, callwright.PhoneNumber) (callwright.OrgID, sip.Record, error) {
	return "", sip.Record{}, callwright.ErrNotFound
}

func Example() {
	memory := memstore.New()
	work := memstore.NewWork(memory, nil)
	phone := owner{make(chan []string, 1)}
	service, err := proof.New(proof.Config{
		Store: sipstore.Proofs{Store: memory}, Atomic: memory, Work: work, Trunks: numbers{}, Announcer: phone,
		Key: callwright.Secret(strings.Repeat("k", 32)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = work.Run(ctx) })

	asked, err := service.Request(ctx, "acme", "+15551234567")
	fmt.Println(asked.State, err)
	spoken := <-phone.heard
	fmt.Printf("%q\n", spoken[0])
	_, err = service.Verify(ctx, "acme", "+15551234567", "000000x")
	fmt.Println(err)
	cancel()
	running.Wait()
	// Output:
	// waiting <nil>
	// "Hello. Somebody wants to connect this telephone number to a voice agent. If it was not you, hang up now, and tell nobody the code. The code is"
	// code: must be the 6 digits that were read out
}
