// Command embed-platform runs the whole platform with its own language model and database.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/platform"
)

// repeatModel repeats the caller's words. The embedded scripted model answers all other requests.
type repeatModel struct{ llm.Model }

func (repeatModel) Name() string { return "parrot" }

func (repeatModel) Reply(_ context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		if n := len(r.Messages); n == 0 {
			yield(llm.ReplyPart{Text: "Who is there?"}, nil)
		} else {
			yield(llm.ReplyPart{Text: "You said: " + r.Messages[n-1].Text}, nil)
		}
	}
}

func main() {
	ctx := context.Background()
	data := must(os.MkdirTemp("", "embed-platform-"))
	defer func() { _ = os.RemoveAll(data) }()
	key := make([]byte, 32) // a program with durable data must store the key, too
	_, _ = rand.Read(key)
	ring := must(callwright.NewKeyring("k1", map[string][]byte{"k1": key}))
	db := must(bunstore.Open(ctx, "sqlite:"+filepath.Join(data, "own.db"), bunstore.Config{Keyring: ring}))
	defer func() { _ = db.Close() }()

	c := platform.Defaults()
	c.Data, c.Database, c.Model = data, db, repeatModel{scripted.New()}
	c.Addr, c.SIPAddr, c.RTPPorts = "127.0.0.1:0", "127.0.0.1:0", platform.PortRange{} // port 0 and the empty range mean any free port
	c.Logger = slog.New(slog.DiscardHandler)
	p := must(platform.New(c))
	check(p.Start(ctx)) // a server calls Run instead, which returns when ctx ends
	talk(ctx, p.Services().Pathways)
	check(p.Stop(ctx))
}

// talk chats with a pathway of one node. The model produces the replies.
func talk(ctx context.Context, pathways *pathway.Service) {
	node := json.RawMessage(`{"id": "echo", "type": "Default", "data": {"name": "Echo", "prompt": "Repeat the caller.", "isStart": true}}`)
	made := must(pathways.Create(ctx, platform.FirstOrganization, pathway.Draft{Name: "Echo", Document: graph.Document{Nodes: []json.RawMessage{node}}}))
	begun := must(pathways.StartChat(ctx, platform.FirstOrganization, pathway.ChatRequest{Pathway: made.ID}))
	turn := must(pathways.Say(ctx, platform.FirstOrganization, begun.Chat.ID, "Good morning."))
	fmt.Println(begun.Replies, turn.Replies)
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
