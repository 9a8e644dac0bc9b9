package callsoas_test

import (
	"fmt"

	"github.com/callwright/callwright/transport/oas/callsoas"
)

// An area describes valid values of the member max_duration of createCall.
func ExampleArea() {
	area := callsoas.Area(callsoas.UnimplementedHandler{})
	fmt.Println(area.Wants["createCall max_duration"])
	// Output: a number of minutes from 0.01 to 720
}
