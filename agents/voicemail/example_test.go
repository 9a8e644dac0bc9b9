package voicemail_test

import (
	"fmt"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/voicemail"
)

func Example() {
	const rate = 8000
	detector := voicemail.New(rate)
	silence := conversation.Frame{In: make([]int16, rate/50)} // 20 ms
	for {
		silence.Elapsed += 20 * time.Millisecond
		if verdict, decided := detector.Hear(silence); decided {
			fmt.Println(verdict, "after", silence.Elapsed)
			return
		}
	}
	// Output: unknown after 30s
}
