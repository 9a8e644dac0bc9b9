package dialogue_test

import (
	"testing"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
)

// TestIdleConfigures checks the silence and the filler that the settings give a conversation, with defaults for absent settings, and that 0
// switches each of them off.
func TestIdleConfigures(t *testing.T) {
	t.Parallel()
	var plain conversation.Config
	(*dialogue.Idle)(nil).Configure(&plain, "de")
	if plain.Silence != 0 || plain.Filler != (conversation.Filler{Text: "Einen Moment, bitte.", After: 4 * time.Second}) {
		t.Errorf("without settings: %s, %+v", plain.Silence, plain.Filler)
	}
	if want := (dialogue.Lines{}).Filled("de").Apology; plain.Apology != want {
		t.Errorf("the apology is %q, want %q", plain.Apology, want)
	}
	var own conversation.Config
	(&dialogue.Idle{After: new(7 * time.Second), Filler: "Hm.", FillerAfter: new(time.Second)}).Configure(&own, "de")
	if own.Silence != 7*time.Second || own.Filler != (conversation.Filler{Text: "Hm.", After: time.Second}) {
		t.Errorf("own settings: %s, %+v", own.Silence, own.Filler)
	}
	var off conversation.Config
	(&dialogue.Idle{After: new(time.Duration(0)), FillerAfter: new(time.Duration(0))}).Configure(&off, "")
	if off.Silence < 12*time.Hour || off.Filler.After != 0 {
		t.Errorf("switched off: %s, %+v", off.Silence, off.Filler)
	}
}

// TestIdleAsks checks that the number of silences in which the agent asks is the configured one.
func TestIdleAsks(t *testing.T) {
	t.Parallel()
	silence := conversation.Turn{Kind: conversation.TurnSilence}
	for _, times := range []int{0, 1, 3} {
		talk := dialogue.Talk{Opened: true}
		asks := (&dialogue.Idle{Times: &times}).Asks()
		for i := range times {
			if got := talk.Patience(silence, talk.Hear(silence), asks); got != dialogue.StillThere {
				t.Errorf("of %d: silence %d is answered with %q", times, i+1, got)
			}
		}
		if got := talk.Patience(silence, talk.Hear(silence), asks); got != dialogue.Goodbye {
			t.Errorf("after %d: %q", times, got)
		}
	}
}
