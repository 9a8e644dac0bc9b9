package call_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
)

// TestPartialTexts checks that the words of a caller are observed and returned by Partial while they are said, that the line replaces them,
// and that the record and the last observation describe the turn.
func TestPartialTexts(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []call.Observation
	inHouseWith(t, func(t *testing.T, h *house) {
		c := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		h.hears(phone, "hello")
		phone.Say("it is monday")
		for synctest.Wait(); ; synctest.Wait() {
			if p, ok := h.Partial("a", c.ID); ok && p.Text == "it is" {
				break
			}
			if err := phone.WaitElapsed(t.Context(), phone.Elapsed()+1); err != nil {
				t.Fatal(err)
			}
		}
		h.hears(phone, "you said it is monday.")
		if p, ok := h.Partial("a", c.ID); ok {
			t.Errorf("after the line there is still %+v", p)
		}
		if err := phone.WaitQuiet(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		phone.Hangup()
		_, lines := h.ended(c.ID)
		if l := lines[1]; l.Turn != 1 || l.Waited <= 0 || l.WaitedFor == "" || lines[2].Turn != 1 || lines[0].Turn != 0 {
			t.Errorf("the lines are %+v", lines)
		}
	}, func(c *call.Config) {
		c.Recognizer = &agentstest.StreamingRecognizer{}
		c.Observe = func(o call.Observation) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, o)
		}
	})
	var said []string
	for _, o := range seen {
		switch o.What {
		case call.ObservedPartial:
			said = append(said, o.Partial.Text)
		case call.ObservedLine:
			said = append(said, "line "+o.Line.Text)
		}
	}
	if text := strings.Join(said, "; "); !strings.Contains(text, "it; it is") || !strings.HasSuffix(text, "line it is monday; line you said it is monday.") {
		t.Errorf("observed: %s", text)
	}
	if last := seen[len(seen)-1]; last.What != call.ObservedEnded || last.Summary.Turns != 1 || last.Summary.Latency.Answers != 1 || last.Summary.Latency.P95.Playing <= 0 {
		t.Errorf("the last observation is %+v", last)
	}
}
