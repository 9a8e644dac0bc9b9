package sherpaserver_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/sherpaserver"
)

// The recognizer is passed to call.Config.
func ExampleNewOnline() {
	recognizer, err := sherpaserver.NewOnline(sherpaserver.Config{URL: "ws://127.0.0.1:6006"})
	fmt.Println(recognizer != nil, err)
	// Output: true <nil>
}
