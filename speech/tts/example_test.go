package tts_test

import (
	"fmt"

	"github.com/callwright/callwright/speech/tts"
)

func ExampleChunker() {
	var chunker tts.Chunker
	for _, piece := range []string{"Good mor", "ning, this is ", "the practice. How ", "can I help?"} { // as a language model outputs them
		for _, chunk := range chunker.Write(piece) {
			fmt.Printf("%q\n", chunk)
		}
	}
	for _, chunk := range chunker.Flush() {
		fmt.Printf("%q\n", chunk)
	}
	// Output:
	// "Good morning, this is the practice."
	// "How can I help?"
}
