package conversation_test

import (
	"context"
	"iter"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/internal/sounds"
	"github.com/callwright/callwright/speech/activity"
	"github.com/callwright/callwright/speech/activity/silero"
)

// The limits of the conversations in TestDeadlines.
const (
	silenceLimit  = 3 * time.Second
	turnLimit     = 4 * time.Second
	patienceLimit = 5 * time.Second
	waitLimit     = 2 * time.Second
	digitsLimit   = time.Second
)

// deadlines contains the maximum time in each state, as docs/states.md lists them. An answer in these tests lasts for 4 s.
var deadlines = map[conversation.State]time.Duration{
	conversation.InGreeting: silenceLimit, conversation.InIdle: silenceLimit, conversation.InHearing: 2 * turnLimit,
	conversation.InPausing: max(waitLimit, turnLimit), conversation.InProposed: max(waitLimit, turnLimit), conversation.InKeying: 64 * digitsLimit,
	conversation.InThinking: patienceLimit, conversation.InSpeaking: patienceLimit + 4*time.Second, conversation.InTalkedOver: turnLimit,
	conversation.InPaused: turnLimit, conversation.InJudging: 2500 * time.Millisecond, conversation.InLeaving: patienceLimit, conversation.IsOver: 0,
}

// hanging is a Brain whose answers never come.
type hanging struct{}

func (hanging) Respond(ctx context.Context, _ conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(func(conversation.Step, error) bool) { <-ctx.Done() }
}

// talkative returns a brain that always answers with the same 4 s.
func talkative(level conversation.Interruptibility) conversation.Brain {
	return &brain{answer: func(conversation.Turn) []conversation.Step {
		return []conversation.Step{
			conversation.BargeIn{Level: level}, conversation.Say{Text: "We are open from nine until five."},
			conversation.BargeIn{}, conversation.Say{Text: "And on a sunday from ten until four."},
		}
	}}
}

// repeated returns a caller who plays the same sound again and again.
func repeated(sound ...int16) callerFunc {
	return func(ctx context.Context, p *agentstest.Phone) {
		for {
			p.Play(sound)
			if p.WaitElapsed(ctx, p.Elapsed()+time.Duration(len(sound)/8)*time.Millisecond) != nil {
				return
			}
		}
	}
}

// pressing is a caller who presses keys at random, and acknowledges.
func pressing(ctx context.Context, p *agentstest.Phone) {
	r := rand.New(rand.NewPCG(1, 2))
	for p.WaitElapsed(ctx, p.Elapsed()+time.Duration(r.IntN(1500))*time.Millisecond) == nil {
		if r.IntN(2) == 0 {
			p.Press("1")
			continue
		}
		p.Say("uh huh")
	}
}

// TestDeadlines checks that no state lasts longer than docs/states.md says, whatever callers, engines and brains do.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	voice := func(text string, pause time.Duration) []int16 {
		return append(agentstest.Voice(text, 8000), make([]int16, int(pause.Milliseconds())*8)...)
	}
	second := agentstest.Voice("something else that somebody says", 8000)
	callers := map[string]callerFunc{
		"silence":            func(context.Context, *agentstest.Phone) {},
		"never stops":        repeated(agentstest.Voice("and then he said that ", 8000)...),
		"acknowledges":       repeated(voice("uh huh", 1500*time.Millisecond)...),
		"words with pauses":  repeated(voice("and what about that", 700*time.Millisecond)...),
		"two people at once": repeated(sounds.Mix(voice("this is one of the two people", 300*time.Millisecond), func(i int) float64 { return float64(second[i%len(second)]) })...),
		"music":              repeated(sounds.Mix(make([]int16, 80_000), sounds.Music(-25))...),
		"noise":              repeated(append(buzz(200*time.Millisecond), make([]int16, 8*1300)...)...),
		"presses keys":       pressing,
	}
	engines := map[string]func() conversation.Recognizer{
		"batch":     func() conversation.Recognizer { return &agentstest.Recognizer{Delay: 300 * time.Millisecond} },
		"streaming": func() conversation.Recognizer { return streams() },
		"no text":   func() conversation.Recognizer { return &agentstest.Recognizer{Delay: time.Hour} },
		"no final text": func() conversation.Recognizer {
			return &agentstest.StreamingRecognizer{Alter: func(h conversation.Heard) []conversation.Heard {
				h.Final = false
				return []conversation.Heard{h}
			}}
		},
		"ends again and again": func() conversation.Recognizer {
			return &agentstest.StreamingRecognizer{Break: func(_ int, text string) error {
				if len(text) > 8 {
					return errEngine
				}
				return nil
			}}
		},
	}
	brains := map[string]func() conversation.Brain{
		"answers":             func() conversation.Brain { return talkative(conversation.Inherited) },
		"is not interrupted":  func() conversation.Brain { return talkative(conversation.NeverInterrupted) },
		"hangs":               func() conversation.Brain { return hanging{} },
		"ignores its context": func() conversation.Brain { return stubborn{talkative(conversation.Inherited).(*brain)} },
	}
	for caller, act := range callers {
		for engine, newEngine := range engines {
			for name, newBrain := range brains {
				for _, mute := range []bool{false, true} {
					usual := engine == "batch" || name == "answers"
					if !usual || mute && (engine != "streaming" || name != "answers") {
						continue
					}
					what := "caller: " + caller + ", engine: " + engine + ", brain " + name
					c := conversation.Config{Recognizer: newEngine()}
					if mute {
						what += ", synthesizer: silent"
						c.Synthesizer = &agentstest.Synthesizer{Delay: time.Hour}
					}
					t.Run(what, func(t *testing.T) {
						t.Parallel()
						checkDeadlines(t, c, newBrain(), act)
					})
				}
			}
		}
	}
}

// TestOwedAnswer checks that an answer which never sounds fails the conversation, even if noises or acknowledgements hold it again and again.
func TestOwedAnswer(t *testing.T) {
	t.Parallel()
	for name, sound := range map[string][]int16{
		"silence": make([]int16, 8000), "music": sounds.Mix(make([]int16, 80_000), sounds.Music(-25)),
		"noise":    append(buzz(200*time.Millisecond), make([]int16, 8*2500)...),
		"uh huh":   append(agentstest.Voice("uh huh", 8000), make([]int16, 8*2500)...),
		"keeps on": append(agentstest.Voice("uh huh", 8000), make([]int16, 8*900)...),
	} {
		for engine, recognizer := range map[string]conversation.Recognizer{"batch": &agentstest.Recognizer{Delay: 300 * time.Millisecond}, "streaming": streams()} {
			t.Run(name+", "+engine, func(t *testing.T) {
				t.Parallel()
				c := conversation.Config{Recognizer: recognizer, Patience: patienceLimit, Silence: silenceLimit, Apology: "x"}
				r := run(t, c, hanging{}, repeated(sound...))
				if r.outcome.By != conversation.ByFailure || r.phone.Elapsed() > 30*time.Second {
					t.Errorf("after %s the outcome is %+v, %v", r.phone.Elapsed(), r.outcome, r.err)
				}
			})
		}
	}
}

// TestTenMinutesOfMusic checks that music counts as silence, and does not hold the agent's words.
func TestTenMinutesOfMusic(t *testing.T) {
	t.Parallel()
	for name, network := range map[string]func(int) conversation.Activity{
		"by energy": nil, "with the network": func(rate int) conversation.Activity { return activity.New(rate, silero.New()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			music := sounds.Mix(make([]int16, 8*60_000), sounds.Music(-25))
			b := talkative(conversation.Inherited).(*brain)
			c := conversation.Config{Activity: network, Turns: endpoint.Rules{}}
			r := runFor(t, c, b, 10*time.Minute, repeated(music...))
			silences := 0
			for _, turn := range b.asked()[1:] {
				if turn.Kind != conversation.TurnSilence || turn.Interrupted {
					t.Errorf("the brain was asked %+v", turn)
				}
				silences++
			}
			if r.err != nil || silences < 30 {
				t.Errorf("the agent asked %d times, outcome %+v, %v", silences, r.outcome, r.err)
			}
			for _, e := range r.entries {
				if len(e.Holds) > 0 {
					t.Errorf("an answer was held: %+v", e)
				}
			}
		})
	}
}

// checkDeadlines runs a conversation for a minute, and checks the times in its states.
func checkDeadlines(t *testing.T, c conversation.Config, b conversation.Brain, act callerFunc) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if c.Synthesizer == nil {
			c.Synthesizer = &agentstest.Synthesizer{}
		}
		c.Turns = endpoint.Rules{}
		c.Silence, c.MaxTurn, c.Patience, c.LongestWait = silenceLimit, turnLimit, patienceLimit, waitLimit
		c.InterDigit, c.LastWords = digitsLimit, time.Second
		conv, err := conversation.New(c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		phone := agentstest.NewPhone(agentstest.PhoneConfig{})
		var wait sync.WaitGroup
		calling, stop := context.WithCancel(ctx)
		wait.Go(func() { act(calling, phone) })
		current, since := conversation.InThinking, time.Duration(0)
		_, _ = conv.RunWatched(ctx, phone.Leg(), b, func(s conversation.State) {
			if s != current {
				current, since = s, phone.Elapsed()
			}
			if d := phone.Elapsed() - since; d > deadlines[s]+200*time.Millisecond {
				t.Errorf("%s lasts for %s at %s", s, d, phone.Elapsed())
				cancel()
			}
		})
		stop()
		phone.Hangup()
		wait.Wait()
	})
}
