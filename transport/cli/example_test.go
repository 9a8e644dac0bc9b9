package cli_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/transport/cli"
)

// The example runs a command that does not exist.
func ExampleRun() {
	config := cli.Config{Model: func(cli.ModelOptions) (llm.Model, error) { return scripted.New(), nil }}
	var out, messages bytes.Buffer
	code := cli.Run(context.Background(), config, []string{"calls", "fly"}, func(string) string { return "" }, &out, &messages)
	fmt.Println(code, out.Len(), messages.String())
	// Output: 2 0 callwright: unknown command calls fly: callwright calls --help lists the commands
}
