package flite_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

// The example synthesizes speech at the sample rate of a telephone call.
func Example() {
	synthesizer, err := flite.New(flite.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	const rate = 8000
	samples, err := speechtest.Speak(context.Background(), synthesizer, tts.Request{Text: "Good morning.", Rate: rate})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("voice", synthesizer.Describe().Default)
	fmt.Println("longer than half a second:", len(samples) > rate/2)
	fmt.Println(synthesizer.CheckVoice("nobody", "") != nil)
	// Output:
	// voice slt
	// longer than half a second: true
	// true
}
