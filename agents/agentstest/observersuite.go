package agentstest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/callwrighttest"
)

// ObserverHarness is the harness of RunObserver. New is required.
type ObserverHarness struct {
	// New returns an observer, and a function that returns the texts of the entries received so far, in order.
	New func(t *testing.T) (o conversation.Observer, taken func() []string)
}

// RunObserver tests a conversation.Observer: it must accept every kind of entry, keep their order, and not block the conversation. If the
// observer is a conversation.PartialObserver or a conversation.SpeechObserver, it also receives partial texts and spoken words before entries.
func RunObserver(t *testing.T, h ObserverHarness) {
	t.Helper()
	t.Run("takes every kind of entry", func(t *testing.T) {
		t.Parallel()
		o, taken := h.New(t)
		var want []string
		for _, e := range []conversation.Entry{
			{Role: conversation.RoleAgent, Text: "Good morning.", Start: 20 * time.Millisecond, End: time.Second},
			{Role: conversation.RoleCaller, Text: "Hello. 日本語", Confidence: 1, Start: time.Second, End: 2 * time.Second},
			{Role: conversation.RoleCaller, Text: "12#", Digits: true, Start: 3 * time.Second, End: 3 * time.Second},
			{Role: conversation.RoleAgent, Text: "w5", Digits: true, Start: 4 * time.Second, End: 5 * time.Second},
			{Role: conversation.RoleAgent, Text: "I was", Interrupted: true, Latency: conversation.Latency{Playing: time.Second}},
			{Role: conversation.RoleAgent, Text: "As I said.", Holds: []conversation.Hold{{Start: time.Second, Length: 1, Why: conversation.HoldNoise}}},
			{Role: conversation.RoleCaller, Turn: 1, Unrecognized: conversation.UnrecognizedTimeout, Start: time.Second, End: 2 * time.Second},
			{Role: conversation.RoleCaller, Text: "Tomorrow", Turn: 1, Waited: 300 * time.Millisecond, WaitedFor: "complete"},
			{Role: conversation.RoleAgent, Text: "At nine.", Turn: 1, Begun: []conversation.Begun{{At: 1, Used: true}, {At: 2, Why: conversation.BegunRevised}}},
		} {
			o.Entry(e)
			want = append(want, e.Text)
		}
		if got := settles(taken, len(want)); !slices.Equal(got, want) {
			t.Errorf("it has taken %q, want %q", got, want)
		}
	})
	t.Run("makes nobody wait and keeps the order", func(t *testing.T) {
		t.Parallel()
		const entries = 500
		o, taken := h.New(t)
		want := make([]string, entries)
		callwrighttest.Soon(t, "observing", func() {
			for i := range want {
				want[i] = fmt.Sprint("entry ", i)
				if partial, ok := o.(conversation.PartialObserver); ok {
					partial.Partial(conversation.Partial{Turn: i + 1, Text: want[i], Stable: 1})
				}
				if speech, ok := o.(conversation.SpeechObserver); ok {
					speech.Spoken(conversation.Entry{Role: conversation.RoleAgent, Text: "entry"})
				}
				o.Entry(conversation.Entry{Role: conversation.RoleAgent, Text: want[i]})
			}
		})
		if got := settles(taken, entries); !slices.Equal(got, want) {
			t.Errorf("it has taken %d entries, or others, or in another order", len(got))
		}
	})
}

// settles waits until the given function returns n texts, but at most callwrighttest.ImmediateLimit, and returns the texts. An observer may
// process an entry after Entry has returned.
func settles(taken func() []string, n int) []string {
	for deadline := time.Now().Add(callwrighttest.ImmediateLimit); len(taken()) < n && time.Now().Before(deadline); <-time.After(time.Millisecond) {
	}
	return taken()
}
