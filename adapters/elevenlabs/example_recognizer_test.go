package elevenlabs_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/elevenlabs"
)

// The recognizer is passed to call.Config.
func ExampleNewRecognizer() {
	recognizer, err := elevenlabs.NewRecognizer(elevenlabs.RecognizerConfig{APIKey: "your key"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("uses keywords:", recognizer.UsesKeywords())
	// Output: uses keywords: true
}
