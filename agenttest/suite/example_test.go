package suite_test

import (
	"fmt"

	"github.com/callwright/callwright/agenttest/suite"
)

func ExampleParse() {
	scenarios, err := suite.Parse([]byte(`
scenarios:
  - name: Books a table
    tester_persona_prompt: You want a table for two at eight.
    max_turns: 8
    assertions:
      - type: STRING_CHECK
        config: {operator: contains, value: booked}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(scenarios[0].Name, scenarios[0].MaxTurns, scenarios[0].Assertions[0].Type)

	_, err = suite.Parse([]byte("scenarios:\n  - name: Books a table\n    max_turns: eight\n"))
	fmt.Println(err)
	// Output:
	// Books a table 8 STRING_CHECK
	// 3:16: scenarios[0].max_turns: must be an integer
}
