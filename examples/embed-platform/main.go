// Command embed-platform is the whole platform with a language model and a database of its own.
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

// repeatModel repeats the caller's words. The scripted model answers all other requests to a model.
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
	key := make([]byte, 32) // a program that keeps its data keeps the key, too
	_, _ = rand.Read(key)
	ring := must(callwright.NewKeyring("k1", map[string][]byte{"k1": key}))
	db := must(bunstore.Open(ctx, "sqlite:"+filepath.Join(data, "own.db"), bunstore.Config{Keyring: ring}))
	defer func() { _ = db.Close() }()

	c := platform.Defaults()
	c.Data, c.Database, c.Model = data, db, repeatModel{scripted.New()}
	c.Addr, c.SIPAddr, c.RTPPorts = "127.0.0.1:0", "127.0.0.1:0", platform.PortRange{} // any that are free
	c.Logger = slog.New(slog.DiscardHandler)
	p := must(platform.New(c))
	check(p.Start(ctx)) // a server calls Run, which returns when ctx ends
	talk(ctx, p.Services().Pathways)
	check(p.Stop(ctx))
}

// talk chats with an agent of one node, whose words are the model's.
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
