package voicemail_test

import (
	"fmt"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/voicemail"
)

func Example() {
	const rate = 8000
	detector := voicemail.New(rate, "en", nil)
	silence := conversation.Frame{In: make([]int16, rate/50)} // 20 ms
	detector.Hear(silence)
	detector.Words("For sales, press one.", false) // of the recognizer, perhaps before the sentence is over
	answerer := detector.Hear(silence)
	fmt.Printf("%s by %s: %s\n", answerer.Category, answerer.Rule, answerer.Words)
	// Output:
	// ivr by words: press one
}
