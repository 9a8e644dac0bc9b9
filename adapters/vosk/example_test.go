package vosk_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/vosk"
)

// The recognizer is passed to call.Config.
func Example() {
	recognizer, err := vosk.New(vosk.Config{URL: "ws://127.0.0.1:2700"})
	fmt.Println(recognizer != nil, err)
	// Output: true <nil>
}
