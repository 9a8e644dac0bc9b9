package cartesia_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/cartesia"
)

// The synthesizer is passed to call.Config or speech.Config.
func ExampleSynthesizer() {
	voice, err := cartesia.New(cartesia.Config{APIKey: "your key", Voice: "a voice's id"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(voice.Describe().Version)
	// Output: sonic-3.5
}
