package triageoas_test

import (
	"fmt"

	"github.com/callwright/callwright/transport/oas/triageoas"
)

// An area describes valid values of the member resource_link_ids of addIssueComment.
func ExampleArea() {
	area := triageoas.Area(triageoas.UnimplementedHandler{})
	fmt.Println(area.Wants["addIssueComment resource_link_ids"])
	// Output: a list of at most 50 items
}
