package checkup_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/checkup"
)

// A program checks a model before it takes calls.
func Example() {
	r := checkup.Model(context.Background(), scripted.New(), "", callwright.SystemClock{})
	fmt.Println(r.Part, r.By, "to do:", r.Advice)
	// Output: model scripted to do: configure a language model
}
