package assemblyai_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/assemblyai"
)

// The recognizer is passed to call.Config.
func Example() {
	recognizer, err := assemblyai.New(assemblyai.Config{APIKey: "your key"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("uses keywords:", recognizer.UsesKeywords())
	// Output: uses keywords: true
}
