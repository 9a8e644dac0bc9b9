package pathway_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
)

// afterTurns returns the state of a conversation after ten turns.
func afterTurns(b *testing.B, c *talk) pathway.State {
	b.Helper()
	c.state = pathway.Begin(map[string]any{"name": "Ada"}, "")
	for i := range 10 {
		turn := speech(fmt.Sprintf("I would like to say something for the %dth time", i))
		if _, err := c.step(b.Context(), turn, 99); err != nil {
			b.Fatal(err)
		}
	}
	return c.state
}

// BenchmarkStep measures a turn without a model in the middle of a conversation: the caller speaks, the conversation follows an edge that
// is always taken, and the agent says a text with a variable.
func BenchmarkStep(b *testing.B) {
	c := newTalk(b, compile(b, nodes(say("a", data{"isStart": true, "text": "Thank you, {{name}}. What else can I do for you?"}),
		say("b", data{"text": "Very well, {{name}}. And what else?"})), ways("a b", "b a")))
	c.interpreter.Clock = nil
	state, turn := afterTurns(b, c), speech("Nothing for now.")
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := c.interpreter.Step(b.Context(), c.graph, c.agent, state, turn, func(conversation.Step) bool { return true }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStepScripted measures a turn in which the scripted model extracts a variable, chooses a way, and predicts the caller's next
// words.
func BenchmarkStepScripted(b *testing.B) {
	g := shop(b)
	r := &pathway.Interpreter{Model: scripted.New(), Requests: &agentstest.Requests{}}
	step := func(s pathway.State, turn conversation.Turn) pathway.State {
		next, _, err := r.Step(b.Context(), g, pathway.Agent{}, s, turn, func(conversation.Step) bool { return true })
		if err != nil {
			b.Fatal(err)
		}
		return next
	}
	state := step(pathway.State{}, conversation.Turn{Kind: conversation.TurnStart})
	turn := speech("How much is it on Thursday?")
	b.ReportAllocs()
	for b.Loop() {
		step(state, turn)
	}
}

// BenchmarkIdle measures the bytes that a conversation occupies between turns, after ten turns. It reports them as B/chat.
func BenchmarkIdle(b *testing.B) {
	c := newTalk(b, compile(b, nodes(say("a", start), say("b", nil)), ways("a b", "b a")))
	chats := make([]pathway.State, 1000)
	var weight uint64
	for b.Loop() {
		clear(chats)
		before := heap()
		for i := range chats {
			chats[i] = afterTurns(b, c)
		}
		weight = heap() - before
	}
	runtime.KeepAlive(chats)
	b.ReportMetric(float64(weight)/float64(len(chats)), "B/chat")
}

// heap returns the bytes in use after a garbage collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
