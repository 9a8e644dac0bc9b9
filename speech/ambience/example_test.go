package ambience_test

import (
	"fmt"

	"github.com/callwright/callwright/speech/ambience"
	"github.com/callwright/callwright/speech/pcm"
)

// The example mixes the sound of an office into a frame of 20 ms of a call.
func Example() {
	loop := ambience.Loop(ambience.Office, 8000)
	frame := make([]int16, 160)
	at := pcm.MixLoop(frame, loop, 0)
	fmt.Println(len(loop)/8000, "seconds; the next frame begins at sample", at)
	// Output: 24 seconds; the next frame begins at sample 160
}
