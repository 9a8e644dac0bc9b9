package elevenlabs_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/elevenlabs"
)

// The synthesizer is passed to call.Config or speech.Config.
func ExampleSynthesizer() {
	voice, err := elevenlabs.New(elevenlabs.Config{APIKey: "your key", Voice: "a voice's id"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(voice.Describe().Version)
	// Output: eleven_flash_v2_5
}
