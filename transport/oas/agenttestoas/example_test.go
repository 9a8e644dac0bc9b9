package agenttestoas_test

import (
	"fmt"

	"github.com/callwright/callwright/transport/oas/agenttestoas"
)

// An area describes valid values of the member description of cloneTestTemplate.
func ExampleArea() {
	area := agenttestoas.Area(agenttestoas.UnimplementedHandler{})
	fmt.Println(area.Wants["cloneTestTemplate description"])
	// Output: a text of at most 2000 characters
}
