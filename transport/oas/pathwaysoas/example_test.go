package pathwaysoas_test

import (
	"fmt"

	"github.com/callwright/callwright/transport/oas/pathwaysoas"
)

// An area describes valid values of the member nodes of createPathwayVersion.
func ExampleArea() {
	area := pathwaysoas.Area(pathwaysoas.UnimplementedHandler{})
	fmt.Println(area.Wants["createPathwayVersion nodes"])
	// Output: a list of at most 500 items
}
