package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/callwright/callwright/transport/client"
	"github.com/callwright/callwright/transport/mcp"
)

// voices is an API that finds a voice for every name.
type voices struct{ mcp.API }

func (voices) GetVoice(_ context.Context, idOrName string) (client.Voice, error) {
	return client.Voice{ID: "v1", Name: idOrName}, nil
}

// An assistant requests a voice over standard input and output.
func ExampleServeStdio() {
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tts_voice_get","arguments":{"voice":"Ann"}}}
`
	var out bytes.Buffer
	err := mcp.ServeStdio(context.Background(), voices{}, mcp.Config{}, strings.NewReader(in), &out)
	fmt.Println(strings.Count(out.String(), "\n"), strings.Contains(out.String(), `"isError":true`), err)
	// Output: 2 false <nil>
}
