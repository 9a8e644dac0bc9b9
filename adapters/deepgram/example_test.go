package deepgram_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/deepgram"
)

// The recognizer is passed to call.Config. Flux also judges whether the caller has finished speaking.
func Example() {
	recognizer, err := deepgram.New(deepgram.Config{APIKey: "your key", Model: "flux-general-en"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("uses keywords:", recognizer.UsesKeywords())
	// Output: uses keywords: true
}
