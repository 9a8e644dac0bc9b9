package speechoas_test

import (
	"fmt"

	"github.com/callwright/callwright/transport/oas/speechoas"
)

// An area describes valid values of the member name of renameVoice.
func ExampleArea() {
	area := speechoas.Area(speechoas.UnimplementedHandler{})
	fmt.Println(area.Wants["renameVoice name"])
	// Output: a text of 1 to 30 characters
}
