package conversation_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/sounds"
	"github.com/callwright/callwright/speech/tts"
)

// TestEndpoints checks that three sentences of synthetic speech over noisy lines become three complete turns, which begin before the first
// word and end soon after the last word.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	sentences := []string{
		"I would like to come on Tuesday, if that is possible.",
		"Half past three.",
		"No, thank you, that was all.",
	}
	for _, voice := range []string{"slt", "rms"} {
		var speech [][]int16
		for _, s := range sentences {
			speech = append(speech, sounds.Scale(sounds.Speech(t, voice, s), -22))
		}
		for name, noise := range map[string]func() func(int) float64{
			"quiet":       func() func(int) float64 { return sounds.White(-75) },
			"white 15 dB": func() func(int) float64 { return sounds.White(-37) },
			"car 12 dB":   func() func(int) float64 { return sounds.Brown(-34) },
			"hum":         func() func(int) float64 { return sounds.Both(sounds.Tones(-30, 50), sounds.White(-60)) },
		} {
			t.Run(voice+"/"+name, func(t *testing.T) {
				t.Parallel()
				b := parrot(len(sentences))
				var ends []time.Duration // time of the last loud frame of each sentence
				line := noise()
				r := runOn(t, conversation.Config{WaitForGreeting: true, Silence: time.Hour}, b, func(ctx context.Context, p *agentstest.Phone) {
					for i, s := range speech {
						if i == 0 {
							must(t, p.WaitElapsed(ctx, 2*time.Second))
						}
						ends = append(ends, p.Elapsed()+lastLoud(s))
						p.Play(s)
						must(t, p.WaitHeard(ctx, strings.Repeat("speech", i+1)))
						if i < len(speech)-1 {
							must(t, p.WaitQuiet(ctx, 400*time.Millisecond))
						}
					}
				}, func(l *agentstest.Leg) conversation.Audio { return &noisy{Leg: l, noise: line} })
				turns := b.asked()
				if r.err != nil || len(turns) != len(sentences) || len(r.entries) != len(sentences) {
					t.Fatalf("outcome %+v, %v, turns %v, transcript %v", r.outcome, r.err, turns, r.lines)
				}
				for i, e := range r.entries {
					late := e.Start - ends[i] - 500*time.Millisecond
					if turns[i].Kind != conversation.TurnSpeech || late < -200*time.Millisecond || late > 200*time.Millisecond {
						t.Errorf("turn %d is %s, its answer comes %s after the end of the turn", i, turns[i].Kind, late)
					}
				}
			})
		}
	}
}

// lastLoud returns the end of the last frame whose level is within 30 dB of the speech's level. Later speech is inaudible in noise.
func lastLoud(p []int16) time.Duration {
	for i := len(p)/160 - 1; i > 0; i-- {
		if sounds.RMS(p[i*160:(i+1)*160]) > sounds.Amplitude(-52) {
			return time.Duration(i+1) * 20 * time.Millisecond
		}
	}
	return 0
}

// noisy is a leg that adds noise to the phone's speech and applies G.711 coding.
type noisy struct {
	*agentstest.Leg
	noise func(int) float64
	n     int
}

func (l *noisy) Read(ctx context.Context) (conversation.Frame, error) {
	f, err := l.Leg.Read(ctx)
	for i, s := range f.In {
		f.In[i] = sounds.Mulaw(float64(s) + l.noise(l.n))
		l.n++
	}
	return f, err
}

// TestEchoOfSpeech checks that an echo of the agent's synthetic speech does not interrupt the agent, and that a caller can still interrupt
// it.
func TestEchoOfSpeech(t *testing.T) {
	t.Parallel()
	agent := sounds.Speech(t, "slt", "Good morning, this is the dentist. Would you like to come on Monday, or rather on Tuesday?")
	caller := sounds.Speech(t, "rms", "Excuse me, I have a question.")
	for _, dB := range []float64{-60, -45, -35, -20} {
		for _, breaks := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v dB, caller speaks %v", dB, breaks), func(t *testing.T) {
				t.Parallel()
				b := parrot(2)
				engine := &agentstest.Synthesizer{Sound: func(tts.Request) []int16 { return slices.Clone(agent) }}
				runOn(t, conversation.Config{Synthesizer: engine, Silence: 2 * time.Second}, b, func(ctx context.Context, p *agentstest.Phone) {
					if breaks {
						must(t, p.WaitElapsed(ctx, 2*time.Second))
						p.Play(sounds.Scale(caller, -25))
					}
				}, func(l *agentstest.Leg) conversation.Audio {
					return &echoing{Leg: l, gain: sounds.Amplitude(dB) / 32768, delay: 4}
				})
				if turns := b.asked(); len(turns) != 2 || turns[1].Interrupted != breaks {
					t.Errorf("turns %+v", turns)
				}
			})
		}
	}
}
