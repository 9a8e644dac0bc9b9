package templates_test

import (
	"fmt"

	"github.com/callwright/callwright/agenttest/templates"
)

func Example() {
	template := templates.All()[0]
	s := template.Scenario()
	s.Pathway = "booking" // the agent to test
	fmt.Println(s.Category, s.Name, len(s.Assertions) > 0)
	// Output: CUSTOM Plain question true
}
