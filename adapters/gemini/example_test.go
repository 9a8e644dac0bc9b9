package gemini_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/callwright/callwright/adapters/gemini"
	"github.com/callwright/callwright/agents/llm"
)

// The client streams a reply from a server that imitates Google's interface.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { greet(w) }))
	defer server.Close()
	model, err := gemini.New(gemini.Config{BaseURL: server.URL, APIKey: "AIza-example", Model: "gemini-2.5-flash"})
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
