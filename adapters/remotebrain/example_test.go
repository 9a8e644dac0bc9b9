package remotebrain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/remotebrain"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/agents/conversation"
)

// A service greets the caller, and ends the conversation when the caller has spoken.
func Example() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request remotebrain.Request
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if request.Turn.Kind == "start" {
			_, _ = io.WriteString(w, `{"type":"say","text":"Hello. What is your name?"}`+"\n"+`{"type":"done"}`+"\n")
			return
		}
		_ = json.NewEncoder(w).Encode(remotebrain.Line{Type: remotebrain.LineSay, Text: "Goodbye, " + request.Turn.Text})
		_ = json.NewEncoder(w).Encode(remotebrain.Line{Type: remotebrain.LineEnd, Reason: "the name is known"})
	}))
	defer service.Close()

	ctx := context.Background()
	tenants := orgstore.Tenants{Store: memstore.New()}
	if err := tenants.InsertOrganization(ctx, callwright.Organization{ID: "acme", WebhookSecret: secret}); err != nil {
		fmt.Println(err)
		return
	}
	sender, err := webhook.New(webhook.Config{Tenants: tenants, AllowPrivate: true}) // the service listens on loopback
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sender.Close()
	brain, err := remotebrain.New(remotebrain.Config{Sender: sender, URL: service.URL, Org: "acme", Conversation: "call-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, turn := range []conversation.Turn{{Kind: conversation.TurnStart}, {Kind: conversation.TurnSpeech, Text: "Robin."}} {
		for step, err := range brain.Respond(ctx, turn) {
			fmt.Printf("%T %v %v\n", step, step, err)
		}
	}
	// Output:
	// conversation.Say {Hello.} <nil>
	// conversation.Say {What is your name?} <nil>
	// conversation.Say {Goodbye, Robin.} <nil>
	// conversation.End {the name is known} <nil>
}
