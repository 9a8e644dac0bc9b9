package anthropic_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/agents/llm"
)

// The client streams a reply from a server that imitates Anthropic's interface.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { greet(w) }))
	defer server.Close()
	model, err := anthropic.New(anthropic.Config{BaseURL: server.URL, APIKey: "sk-example", Model: "claude-haiku-4-5"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer model.Close()

	for part, err := range model.Reply(context.Background(), llm.ReplyRequest{
		Instructions: "Greet the caller.", Messages: []llm.Message{{Role: llm.RoleCaller, Text: "Hello?"}},
	}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(part.Text)
	}
	// Output: Good morning.
}
