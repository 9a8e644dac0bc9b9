package call_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
)

// dialed describes a transfer during which a caller speaks or presses keys, and whether the transfer fails.
type dialed struct {
	words  []string
	pauses []time.Duration // time before each word, counted from the start of the transfer or the previous word
	rest   time.Duration   // time until the result of the transfer; the last word may continue beyond it
	keys   string          // pressed before the words
	fails  bool
}

var anyDialed = rapid.Custom(func(t *rapid.T) dialed {
	d := dialed{
		words: rapid.SliceOfN(rapid.SampledFrom([]string{"hello", "are you there", "can you hear me", "it is about my bill"}), 0, 3).Draw(t, "words"),
		rest:  time.Duration(rapid.IntRange(100, 4000).Draw(t, "rest")) * time.Millisecond,
		keys:  rapid.SampledFrom([]string{"", "", "42", "7#"}).Draw(t, "keys"), fails: rapid.IntRange(0, 3).Draw(t, "fails") > 0,
	}
	for range d.words {
		d.pauses = append(d.pauses, time.Duration(rapid.IntRange(0, 2500).Draw(t, "pause"))*time.Millisecond)
	}
	return d
})

// TestCallerSpeaksDuringATransfer checks that a caller who speaks or presses keys during the dialing of a transfer receives no answer
// meanwhile. If the transfer fails, the conversation must continue with all of the caller's words and keys.
func TestCallerSpeaksDuringATransfer(t *testing.T) {
	t.Parallel()
	for seed := range 40 {
		d := anyDialed.Example(seed)
		synctest.Test(t, func(t *testing.T) { speakDuring(t, d) })
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, d)
		}
	}
}

func speakDuring(t *testing.T, d dialed) {
	t.Helper()
	var phone *agentstest.Phone
	var before, after string
	h := newHouse(t, 0, agentstest.PhoneConfig{Transfer: func(string) error {
		before = phone.Heard()
		phone.Press(d.keys)
		for i, word := range d.words {
			time.Sleep(d.pauses[i])
			phone.Say(word)
		}
		time.Sleep(d.rest)
		after = phone.Heard()
		if d.fails {
			return errors.New("603")
		}
		return nil
	}})
	defer h.stop()
	c := h.create(agents.Agent{FirstSentence: "hello", TransferTo: "+15550000007"})
	phone = h.answered()
	h.hears(phone, "hello")
	h.says(phone, "operator")
	if d.fails {
		h.hears(phone, "nobody could be reached")
		if len(d.words)+len(d.keys) > 0 {
			_ = phone.WaitElapsed(t.Context(), phone.Elapsed()+15*time.Second)
		}
		h.says(phone, "bye")
	}
	got, lines := h.ended(c.ID)
	if before != after {
		t.Errorf("the agent that leaves says %q", strings.TrimPrefix(after, before))
	}
	if (got.Ending.Cause == call.CauseTransferred) == d.fails {
		t.Errorf("ended with %+v", got.Ending)
	}
	if !d.fails {
		return
	}
	var said, answered strings.Builder
	for _, l := range lines {
		switch {
		case l.Speaker == call.SpeakerUser:
			said.WriteString(l.Text + "|")
		case l.Speaker == call.SpeakerAssistant:
			answered.WriteString(l.Text + "|")
		}
	}
	together := strings.NewReplacer(" ", "", "|", "", ".", "")
	want := together.Replace(strings.Join(d.words, ""))
	if !strings.Contains(together.Replace(said.String()), want) || !strings.Contains(together.Replace(answered.String()), want) {
		t.Errorf("of %q the transcript has %q, and answers %q", d.words, said.String(), answered.String())
	}
	if keys := strings.TrimSuffix(d.keys, "#"); !strings.Contains(answered.String(), keys) {
		t.Errorf("of the keys %q the agent answers %q", keys, answered.String())
	}
}
