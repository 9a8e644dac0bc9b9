package portingoas_test

import (
	"fmt"

	"github.com/callwright/callwright/transport/oas/portingoas"
)

// An area describes valid values of the member documents of initiatePort.
func ExampleArea() {
	area := portingoas.Area(portingoas.UnimplementedHandler{})
	fmt.Println(area.Wants["initiatePort documents"])
	// Output: a list of 1 to 20 items
}
