package pathway_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway"
)

const benchChats = 1000

// beginChats starts chats with a pathway that contains a node of every type.
func beginChats(b *testing.B, count int) (*office, []pathway.Chat) {
	b.Helper()
	o := newOffice(b, func(c *pathway.Config) { c.Clock, c.Interpreter.Clock = nil, nil })
	o.requests.Answer = agentstest.JSON(`{"free": 1}`)
	p := o.create(b, agentstest.EveryNode(""))
	v := o.storeVersion(b, p.ID, agentstest.EveryNode(""))
	chats := make([]pathway.Chat, count)
	for i := range chats {
		chats[i] = o.chat(b, pathway.ChatRequest{
			Pathway: p.ID, Version: &pathway.Selector{Number: v.Number}, Variables: map[string]any{"caller": fmt.Sprint("Ada ", i)},
		}).Chat
	}
	return o, chats
}

// BenchmarkIdleChat measures the bytes that a chat occupies between turns.
func BenchmarkIdleChat(b *testing.B) {
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // the second collection frees the pools
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for b.Loop() {
		before := heap()
		o, chats := beginChats(b, benchChats)
		for i, c := range chats {
			chats[i] = pathway.Chat{ID: o.say(b, c, "On Tuesday.").Chat.ID}
		}
		b.ReportMetric((float64(heap())-float64(before))/benchChats, "B/chat")
		runtime.KeepAlive(o)
	}
}

// BenchmarkConcurrentChats measures concurrent turns of a thousand chats with the scripted model.
func BenchmarkConcurrentChats(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		o, chats := beginChats(b, benchChats)
		b.StartTimer()
		began := time.Now()
		turns := make([]func() error, benchChats)
		for i, c := range chats {
			turns[i] = func() error { _, err := o.Say(b.Context(), "a", c.ID, "On Tuesday."); return err }
		}
		for _, err := range atOnce(turns...) {
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(time.Since(began).Microseconds())/benchChats, "us/turn")
	}
}

// BenchmarkChatTurn measures one turn, including its two writes to the store in memory.
func BenchmarkChatTurn(b *testing.B) {
	o, chats := beginChats(b, benchChats)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%(100*benchChats) == 100*benchChats-1 { // before any chat is too long
			b.StopTimer()
			o, chats = beginChats(b, benchChats)
			b.StartTimer()
		}
		if _, err := o.Say(b.Context(), "a", chats[i%benchChats].ID, "What does it cost?"); err != nil {
			b.Fatal(err)
		}
	}
}
