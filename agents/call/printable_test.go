package call_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/speech/tts"
)

// hostile returns a text with words and characters that must not be spoken, stored or shown.
func hostile(words string) string {
	return "\u202e\u0007" + strings.ReplaceAll(words, " ", " \u2066\u009b\u200e") + "\u0000\u2069"
}

// voices is a synthesizer that records the texts that it speaks.
type voices struct {
	agentstest.Synthesizer
	mu    sync.Mutex
	texts []string
}

func (v *voices) Synthesize(ctx context.Context, r tts.Request) (tts.Stream, error) {
	v.mu.Lock()
	v.texts = append(v.texts, r.Text)
	v.mu.Unlock()
	return v.Synthesizer.Synthesize(ctx, r)
}

// hostileBrain is a program's own brain.
type hostileBrain struct{}

func (hostileBrain) Respond(context.Context, conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		_ = yield(conversation.Say{Text: hostile("hello from my own program.")}, nil) && yield(conversation.End{Reason: hostile("done")}, nil)
	}
}

// TestModelsCannotDisguiseText checks that no control characters and no characters that change the writing direction reach the synthesizer, the
// model's history or the record of a call, whoever has written the text: a model in its replies and its summary, an agent's settings, or a
// program's own brain.
func TestModelsCannotDisguiseText(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]bool{"model": false, "own brain": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			speech := &voices{}
			answer := func(int, llm.Question) (string, error) {
				return `{"summary":"They \u202e\u0007bought it.","disposition":"sale"}`, nil
			}
			inStudy(t, answer, func(t *testing.T, h *house, m *agentstest.Model) {
				m.Says = func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
					return append(agentstest.Texts(hostile("fine, "), hostile("thank you.")), llm.ReplyPart{Action: llm.ActionEnd}), nil
				}
				r := analyzed()
				r.Agent.FirstSentence = hostile("hello there.")
				r.Agent.Idle = &dialogue.Idle{Prompt: hostile("still there?"), FillerAfter: new(time.Duration(0))}
				c := h.order(r)
				phone := h.answered()
				if !own {
					h.hears(phone, "hello")
					waitFor(15 * time.Second)
					h.says(phone, "I buy it")
				}
				got, lines := h.ended(c.ID)
				waitFor(time.Hour)
				got, err := h.Record(t.Context(), "a", c.ID)
				if err != nil {
					t.Fatal(err)
				}
				var texts []string
				for _, line := range lines {
					texts = append(texts, line.Text)
				}
				for _, r := range m.Requests() {
					for _, message := range r.Messages {
						texts = append(texts, message.Text)
					}
				}
				all := fmt.Sprint(append(texts, got.Ending.Reason, got.Analysis.Summary, strings.Join(speech.texts, "|")))
				if all != callwright.Printable(all) {
					t.Errorf("the texts are %q", all)
				}
				want := []string{"hello there.", "still there?", "fine, thank you.", "They bought it."}
				if own {
					want = []string{"hello from my own program.", "done"}
				}
				for _, words := range want {
					if !strings.Contains(all, words) {
						t.Errorf("%q is missing in %q", words, all)
					}
				}
			}, func(c *call.Config) {
				c.Synthesizer = speech
				if own {
					c.NewBrain = func(context.Context, call.Call) (conversation.Brain, error) { return hostileBrain{}, nil }
				}
			})
		})
	}
}
