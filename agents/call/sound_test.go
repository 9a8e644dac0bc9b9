package call_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/speech/ambience"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// noted is a Synthesizer that records its requests.
type noted struct {
	agentstest.Synthesizer
	mu       sync.Mutex
	requests []tts.Request
}

func (n *noted) Synthesize(ctx context.Context, r tts.Request) (tts.Stream, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests = append(n.requests, r)
	return n.Synthesizer.Synthesize(ctx, r)
}

// TestVoiceIsTheAgents checks that the agent speaks with its voice settings and pronunciations, and that the transcript contains the
// words as they are written.
func TestVoiceIsTheAgents(t *testing.T) {
	t.Parallel()
	engine := &noted{}
	inHouseWith(t, func(t *testing.T, h *house) {
		c := h.create(agents.Agent{
			FirstSentence: "ask the API now", VoiceSettings: `{"speed":1.5,"pitch":0.8,"stability":1}`,
			Pronunciation: []tts.Pronunciation{{Word: "api", Spoken: "a p i"}},
		})
		phone := h.answered()
		h.hears(phone, "ask the a p i now")
		waitFor(time.Second)
		phone.Hangup()
		if _, lines := h.ended(c.ID); lines[0].Text != "ask the API now" {
			t.Errorf("transcript %q", spoken(lines))
		}
		if p := engine.requests[0].Prosody; p != (tts.Prosody{Tempo: 1.5, Pitch: 0.8}) {
			t.Errorf("the engine speaks with %+v", p)
		}
	}, func(c *call.Config) { c.Synthesizer = engine })
}

// TestBackgroundIsTheAgents checks that the other side and the recording contain the background sound while nobody speaks, and that the
// other side can still interrupt the agent.
func TestBackgroundIsTheAgents(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		c := h.create(agents.Agent{
			FirstSentence: "this is a sentence of some length, which the other side will not want to hear until its end",
			Background:    ambience.Cafe, Record: true,
		})
		phone := h.answered()
		waitFor(1500 * time.Millisecond)
		phone.Say("but please stop it")
		waitFor(12 * time.Second)
		phone.Hangup()
		got, lines := h.ended(c.ID)
		if !lines[0].Interrupted {
			t.Errorf("the caller cannot interrupt the agent: %+v", lines)
		}
		want := pcm.Loudness(ambience.Loop(ambience.Cafe, 8000))
		played := phone.Played()
		quiet := func(samples []int16) float64 {
			softest := 0.0
			for at := len(samples) / 4; at+8000 <= len(samples); at += 2000 {
				softest = min(softest, pcm.Loudness(samples[at:at+8000]))
			}
			return softest
		}
		if level := quiet(played); level < want-6 || level > want+6 {
			t.Errorf("the softest second of the phone is at %.1f dBFS, the background at %.1f", level, want)
		}
		f, err := h.Recording(t.Context(), "a", got.ID)
		if err != nil {
			t.Fatal(err)
		}
		audio, err := pcm.ReadWAV(f, 1<<24)
		if err != nil {
			t.Fatal(err)
		}
		var right []int16
		for i := 0; i+1 < len(audio.Samples); i += 2 {
			right = append(right, audio.Samples[i+1])
		}
		if level := quiet(right); level < want-6 || level > want+6 {
			t.Errorf("the softest second of the recording is at %.1f dBFS, the background at %.1f", level, want)
		}
	})
}
