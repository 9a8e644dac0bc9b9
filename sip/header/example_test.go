package header_test

import (
	"fmt"

	"github.com/callwright/callwright/sip/header"
)

// Headers of an incoming call become variables. An outgoing call sends these variables in headers.
func Example() {
	inbound := []header.Rule{
		{Custom: &header.Custom{Key: "X-Customer-ID", Value: "customer"}},
		{UUI: &header.UUI{Target: "case"}},
	}
	outbound := []header.Rule{
		{Custom: &header.Custom{Key: "customer", Value: "X-Account"}},
		{UUI: &header.UUI{Target: "case", Encoding: header.Hex, Purpose: "ticket"}},
	}
	variables := header.Inbound(inbound, []header.Header{
		{Name: "x-customer-id", Value: "4711"}, {Name: "User-to-User", Value: `"C-12";purpose=ticket`},
	})
	fmt.Println(variables["customer"], variables["case"])
	for _, h := range header.Outbound(outbound, variables) {
		fmt.Printf("%s: %s\n", h.Name, h.Value)
	}
	// Output:
	// 4711 C-12
	// X-Account: 4711
	// User-to-User: 432d3132;encoding=hex;purpose=ticket
}
