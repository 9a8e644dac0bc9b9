package endpoint_test

import (
	"fmt"

	"github.com/callwright/callwright/agents/conversation/endpoint"
)

func ExampleRules() {
	var rules endpoint.Rules
	for _, text := range []string{"I'd like to change my", "I'd like to change my appointment.", "yes please"} {
		w := rules.Judge(endpoint.Evidence{Text: text, Known: true, Asked: "What can I do for you?", Language: "en"})
		fmt.Println(w.Likely, w.Final, w.Why)
	}
	// Output:
	// 2s 2s unfinished
	// 150ms 500ms finished
	// 150ms 350ms answered
}
