package phrases_test

import (
	"fmt"

	"github.com/callwright/callwright/agents/voicemail/phrases"
)

func ExampleClassify() {
	for _, text := range []string{"Hello?", "Hi, this is Anna, please leave me a message.", "For billing, press two.", "How can I help you?"} {
		category, phrase := phrases.Classify("en-US", text)
		fmt.Printf("%q %q\n", category, phrase)
	}
	// Output:
	// "" ""
	// "voicemail" "leave me a message"
	// "ivr" "press two"
	// "human" "how can i help"
}
