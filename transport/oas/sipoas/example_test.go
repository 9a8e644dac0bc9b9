package sipoas_test

import (
	"fmt"

	"github.com/callwright/callwright/transport/oas/sipoas"
)

// An area describes valid values of the member auth_mode of attachSipNumbers.
func ExampleArea() {
	area := sipoas.Area(sipoas.UnimplementedHandler{})
	fmt.Println(area.Wants["attachSipNumbers auth_mode"])
	// Output: one of ip, register
}
