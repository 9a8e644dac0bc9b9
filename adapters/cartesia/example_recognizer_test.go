package cartesia_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/cartesia"
)

// The recognizer is passed to call.Config.
func ExampleNewRecognizer() {
	recognizer, err := cartesia.NewRecognizer(cartesia.RecognizerConfig{APIKey: "your key"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("uses keywords:", recognizer.UsesKeywords())
	// Output: uses keywords: true
}
