package silero_test

import (
	"fmt"

	"github.com/callwright/callwright/speech/activity/silero"
)

func Example() {
	network := silero.New()
	silence := make([]float32, silero.Window) // 32 ms at 8 kHz
	fmt.Println("speech:", network.Probability(silence) > 0.5)
	// Output: speech: false
}
