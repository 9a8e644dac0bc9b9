package wyoming_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/wyoming"
)

// The recognizer is passed to call.Config.
func Example() {
	recognizer, err := wyoming.New(wyoming.Config{URL: "tcp://127.0.0.1:10300"})
	fmt.Println(recognizer != nil, err)
	// Output: true <nil>
}
