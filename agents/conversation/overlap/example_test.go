package overlap_test

import (
	"fmt"

	"github.com/callwright/callwright/agents/conversation/overlap"
)

func ExampleClassify() {
	for _, text := range []string{"uh huh", "Yeah, okay.", "um", "okay stop", "yes but why"} {
		kind := overlap.Classify("en-US", text)
		fmt.Println(kind, kind.Interrupts())
	}
	// Output:
	// back-channel false
	// back-channel false
	// filler false
	// stop true
	// words true
}

func ExampleClassifyAfter() {
	fmt.Println(overlap.ClassifyAfter("en", "Your order has shipped.", "okay"))
	fmt.Println(overlap.ClassifyAfter("en", "Your order has shipped. Shall I send you the link?", "okay"))
	// Output:
	// back-channel
	// words
}
