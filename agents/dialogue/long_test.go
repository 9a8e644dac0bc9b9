package dialogue_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
)

// TestLongAnswer checks that a long answer does not copy all of its words for each further sentence. It does not run in parallel with other
// tests, because it would count their memory.
func TestLongAnswer(t *testing.T) { //nolint:paralleltest // it counts memory
	text := strings.Repeat("Some words. ", dialogue.MaxAnswer/12)
	var talk dialogue.Talk
	allocated := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		b.ReportAllocs()
		for range b.N {
			talk = dialogue.Talk{}
			talk.Answer(func(conversation.Step) bool { return true }).Text(text)
		}
	}).AllocedBytesPerOp()
	if len(talk.Messages) != 1 || talk.Messages[0].Role != llm.RoleAgent || talk.Messages[0].Text != strings.TrimSpace(text) {
		t.Errorf("the talk is %d messages", len(talk.Messages))
	}
	if allocated > 20*dialogue.MaxAnswer {
		t.Errorf("%d bytes cost %d", len(text), allocated)
	}
}
