package runner_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/runner"
	"github.com/callwright/callwright/agenttest/scenario"
)

// In this example, a test talks to version 1 of a pathway. A mock answers its request to the shop.
func Example() {
	ctx := context.Background()
	r, err := runner.New(runner.Config{Versions: agenttesttest.Versions{
		{Org: "acme", Pathway: "shop", Number: 1, Document: agenttesttest.Shop()},
	}})
	if err != nil {
		panic(err)
	}
	session, err := r.Start(ctx, engine.SessionSpec{
		Org: "acme", Pathway: "shop", Version: 1, Variables: map[string]any{"name": "Ada"}, Model: agenttesttest.Literal(),
		Webhooks: []scenario.WebhookMock{{Node: "slots", Body: []byte(`{"free": 3}`)}},
	})
	if err != nil {
		panic(err)
	}
	defer session.Close()
	for _, text := range []string{"", "Any slots on day=Tuesday?"} {
		turn, err := session.Reply(ctx, engine.CallerTurn{Text: text})
		if err != nil {
			panic(err)
		}
		fmt.Println(turn.Text, turn.Visits)
		for _, w := range turn.Webhooks {
			fmt.Println(w.Node, w.Method, w.URL, string(w.Body))
		}
	}
	// Output:
	// Hello Ada. [welcome]
	// There are 3. [slots offer]
	// slots POST https://shop.example.com/slots?api_key=[redacted]&day=Tuesday {"day": "Tuesday"}
}
