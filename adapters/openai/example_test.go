package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/agents/llm"
)

// The client streams a reply from a server that imitates OpenAI's interface.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, words := range []string{"Good ", "morning."} {
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", words)
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	client, err := openai.New(openai.Config{BaseURL: server.URL + "/v1", APIKey: "sk-example", Model: "small"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	for part, err := range client.Reply(context.Background(), llm.ReplyRequest{
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
