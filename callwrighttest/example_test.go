package callwrighttest_test

import (
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
)

// Example overwrites a returned value, and so finds that it shares memory with the stored value.
func Example() {
	stored := callwright.Organization{ID: "acme", Entitlements: []callwright.Entitlement{callwright.EntitlementSIP}}
	returned := stored // copies the id, but shares the entitlements
	callwrighttest.Spoil(&returned)
	fmt.Println(stored.ID, stored.Entitled(callwright.EntitlementSIP))
	// Output: acme false
}
