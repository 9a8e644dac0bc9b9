package agentsoas_test

import (
	"fmt"

	"github.com/callwright/callwright/transport/oas/agentsoas"
)

// An area describes valid values of the member voice of createAgent.
func ExampleArea() {
	area := agentsoas.Area(agentsoas.UnimplementedHandler{})
	fmt.Println(area.Wants["createAgent voice"])
	// Output: a text of 1 to 128 characters
}
