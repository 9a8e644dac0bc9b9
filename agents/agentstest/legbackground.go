package agentstest

import (
	"testing"
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/speech/pcm"
)

// legBackground checks that the far end hears a background during speech and during silence, until it ends, and that the leg's own frames,
// Queued and Flush do not include it.
func legBackground(t *testing.T, h LegHarness) {
	leg, far := h.Connect(t)
	player, ok := leg.(call.BackgroundPlayer)
	if !ok {
		return
	}
	n := follow(t, leg)
	rate := leg.Rate()
	far.Play(make([]int16, rate)) // proves the far end's address
	hears := func() bool {
		heard := far.Played()
		return len(heard) > rate/4 && pcm.Loudness(heard[len(heard)-rate/4:]) > -40
	}
	player.PlayBackground(beep(rate, 500*time.Millisecond)[:rate/50*7]) // 400 Hz: 56 whole periods
	eventually(t, "the far end hears the background", hears)
	if queued, flushed := leg.Queued(), leg.Flush(); queued != 0 || flushed != 0 {
		t.Errorf("the background is %d queued and %d flushed samples", queued, flushed)
	}
	if d := n.played(); d != 0 {
		t.Errorf("frames show %s of the background as played", d)
	}
	if err := speak(patient(t), leg, make([]int16, rate/2)); err != nil { // written silence, beneath which the background goes on
		t.Fatal(err)
	}
	eventually(t, "the silence is played", func() bool { return leg.Queued() == 0 })
	if !hears() {
		t.Error("written silence replaces the background")
	}
	player.PlayBackground(nil)
	eventually(t, "the background ends", func() bool {
		heard := far.Played()
		return pcm.Loudness(heard[len(heard)-rate/4:]) < -60
	})
}
