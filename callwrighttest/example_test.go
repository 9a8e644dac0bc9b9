package callwrighttest_test

import (
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
)

// Spoil overwrites a returned value, so that a suite finds stores that share memory with their callers.
func Example() {
	stored := callwright.Organization{ID: "acme", Entitlements: []callwright.Entitlement{callwright.EntitlementSIP}}
	returned := stored // copies the id, but shares the list
	callwrighttest.Spoil(&returned)
	fmt.Println(stored.ID, stored.Entitled(callwright.EntitlementSIP))
	// Output: acme false
}
