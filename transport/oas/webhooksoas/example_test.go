package webhooksoas_test

import (
	"fmt"

	"github.com/callwright/callwright/transport/oas/webhooksoas"
)

// An area describes valid values of the member host of resumeWebhooks.
func ExampleArea() {
	area := webhooksoas.Area(webhooksoas.UnimplementedHandler{})
	fmt.Println(area.Wants["resumeWebhooks host"])
	// Output: a text of 1 to 512 characters
}
