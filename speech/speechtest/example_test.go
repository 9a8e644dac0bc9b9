package speechtest_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

// The example synthesizes two texts with an Engine: the longer text lasts longer, and an unknown voice is refused.
func Example() {
	ctx := context.Background()
	engine := &speechtest.Engine{}
	var lengths []int
	for _, text := range []string{"Hello", "Good morning"} {
		samples, err := speechtest.Speak(ctx, engine, tts.Request{Text: text, Voice: "ben", Rate: 8000})
		if err != nil {
			fmt.Println(err)
			return
		}
		lengths = append(lengths, len(samples))
	}
	fmt.Println(lengths[1] > lengths[0], engine.Requests()[1].Voice)
	_, err := engine.Synthesize(ctx, tts.Request{Text: "Hello", Voice: "nobody", Rate: 8000})
	fmt.Println(err)
	// Output:
	// true ben
	// voice: unknown voice "nobody"; use one of ada, ben, cleo
}
