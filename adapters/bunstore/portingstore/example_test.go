package portingstore_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/porting"
)

// The example shows that the store refuses a number that another open request contains.
func Example() {
	ctx := context.Background()
	ring, err := callwright.NewKeyring("2026", map[string][]byte{"2026": []byte("32 bytes from a file with mode 0")})
	if err != nil {
		fmt.Println(err)
		return
	}
	db, err := bunstore.Open(ctx, "sqlite::memory:", bunstore.Config{Keyring: ring})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = db.Close() }()

	requests := portingstore.Requests{DB: db}
	request := porting.Request{
		ID: "r1", Org: "acme", State: porting.WaitingForSignature,
		Numbers: []porting.Number{{Number: "+14155550101", State: porting.NumberPending}},
	}
	if err := requests.InsertRequest(ctx, request); err != nil {
		fmt.Println(err)
		return
	}
	stored, err := requests.Request(ctx, "acme", "r1")
	fmt.Println(stored.State, stored.Numbers[0].Number, err)
	request.ID = "r2"
	fmt.Println(requests.InsertRequest(ctx, request))
	// Output:
	// waiting_for_signature +14155550101 <nil>
	// phone_numbers: a number is in another port request that has not ended: wait until it ends, or cancel it
}
