package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/tts"
)

var errEngine = errors.New("the engine is broken")

const sorry = "I am sorry, something went wrong on our side. Goodbye."

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]conversation.Config{
		"no recognizer":   {Synthesizer: &agentstest.Synthesizer{}},
		"no synthesizer":  {Recognizer: &agentstest.Recognizer{}},
		"a negative time": {Recognizer: &agentstest.Recognizer{}, Synthesizer: &agentstest.Synthesizer{}, Silence: -1},
	} {
		if _, err := conversation.New(c); err == nil {
			t.Errorf("%s is fine", name)
		}
	}
}

// TestRecognizerFails checks that the first failure of the recognizer is a turn without words, and that the second consecutive failure ends
// the conversation.
func TestRecognizerFails(t *testing.T) {
	t.Parallel()
	caller := func(ctx context.Context, p *agentstest.Phone) {
		for _, wait := range []string{"start", "speech", "speechspeech"} {
			if p.WaitHeard(ctx, wait) != nil || p.WaitQuiet(ctx, 300*time.Millisecond) != nil {
				return
			}
			p.Say("hello")
		}
	}
	for name, engine := range map[string]*agentstest.Recognizer{
		"listening":   {Deaf: func() error { return errEngine }},
		"recognizing": {Fail: func(string) error { return errEngine }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := parrot(9)
			r := run(t, conversation.Config{Recognizer: engine}, b, caller)
			if !errors.Is(r.err, errEngine) || r.outcome.By != conversation.ByFailure {
				t.Errorf("outcome %+v, %v", r.outcome, r.err)
			}
			expectLines(t, r, "agent: start", "caller:  [error]", "agent: speech", "caller:  [error]", "agent: "+sorry)
			if turns := b.asked(); len(turns) != 2 || turns[1].Text != "" {
				t.Errorf("turns %+v", turns)
			}
		})
	}
	t.Run("now and then", func(t *testing.T) {
		t.Parallel()
		n := 0
		engine := &agentstest.Recognizer{Fail: func(string) error {
			n++
			if n%3 > 0 { // both attempts of the first and the third utterance
				return errEngine
			}
			return nil
		}}
		r := run(t, conversation.Config{Recognizer: engine}, parrot(4), caller)
		if r.err != nil {
			t.Error(r.err)
		}
		expectLines(t, r, "agent: start", "caller:  [error]", "agent: speech", "caller: hello", "agent: speech hello", "caller:  [error]", "agent: speech")
	})
}

// TestUnrecognized checks the reason in the transcript for each kind of failure, that a failing engine is asked only twice for the words, and
// that its failure is known soon, whatever its code.
func TestUnrecognized(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want conversation.Unrecognized
	}{
		{errEngine, conversation.UnrecognizedError},
		{io.ErrUnexpectedEOF, conversation.UnrecognizedError},
		{callwright.ErrUnavailable, conversation.UnrecognizedUnavailable},
		{fmt.Errorf("engine: %w", callwright.ErrTooManyRequests), conversation.UnrecognizedUnavailable},
		{callwright.ErrAuthFailure, conversation.UnrecognizedRefused},
		{callwright.Invalid("language", "is unknown"), conversation.UnrecognizedRefused},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			t.Parallel()
			asked := 0
			engine := &agentstest.Recognizer{Fail: func(string) error {
				if asked++; asked > 2 {
					return nil
				}
				return c.err
			}}
			r := run(t, conversation.Config{Recognizer: engine}, parrot(3), func(ctx context.Context, p *agentstest.Phone) {
				for _, wait := range []string{"start", "speech"} {
					must(t, p.WaitHeard(ctx, wait))
					must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
					p.Say("hello")
				}
			})
			expectLines(t, r, "agent: start", "caller:  ["+string(c.want)+"]", "agent: speech", "caller: hello", "agent: speech hello")
			if e := r.entries[1]; asked != 3 || e.Turn != 1 || e.End <= e.Start || r.entries[2].Start-e.End > 5*time.Second {
				t.Errorf("asked %d times, %+v, answered at %s", asked, e, r.entries[2].Start)
			}
		})
	}
	t.Run("a part of the words", func(t *testing.T) {
		t.Parallel()
		engine := &agentstest.Recognizer{Fail: func(text string) error {
			if text == "hello" {
				return errEngine
			}
			return nil
		}}
		r := run(t, conversation.Config{Recognizer: engine, EndOfTurn: time.Second}, parrot(2), func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitHeard(ctx, "start"))
			must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
			p.Say("hello")
			p.Play(make([]int16, 8*500))
			p.Say("there")
		})
		expectLines(t, r, "agent: start", "caller: there [error]", "agent: speech there")
	})
	t.Run("over the agent", func(t *testing.T) {
		t.Parallel()
		engine := &agentstest.Recognizer{Delay: time.Second, Fail: func(string) error { return errEngine }}
		b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
			if turn.Kind == conversation.TurnStart {
				return []conversation.Step{conversation.BargeIn{Level: conversation.NeverInterrupted}, conversation.Say{Text: story}}
			}
			return []conversation.Step{conversation.End{}}
		}}
		r := run(t, conversation.Config{Recognizer: engine, Silence: 2 * time.Second}, b, func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitElapsed(ctx, time.Second))
			p.Say("what about it")
		})
		expectLines(t, r, "agent: "+story, "caller:  [error]")
	})
}

func TestSynthesizerFails(t *testing.T) {
	t.Parallel()
	fails := func(s tts.Request) error {
		if strings.Contains(s.Text, "second") || s.Text == sorry {
			return errEngine
		}
		return nil
	}
	for name, c := range map[string]struct {
		engine *agentstest.Synthesizer
		lines  []string
	}{
		"at once":       {&agentstest.Synthesizer{Fail: fails}, []string{"agent: A first sentence."}},
		"in the middle": {&agentstest.Synthesizer{Break: fails}, []string{"agent: A first sentence. A second"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &brain{answer: func(conversation.Turn) []conversation.Step {
				return say("A first sentence.", "A second sentence.", "x")
			}}
			r := run(t, conversation.Config{Synthesizer: c.engine}, b, func(context.Context, *agentstest.Phone) {})
			if !errors.Is(r.err, errEngine) || r.outcome.By != conversation.ByFailure {
				t.Errorf("outcome %+v, %v", r.outcome, r.err)
			}
			if len(r.lines) != 1 || !strings.HasPrefix(r.lines[0], c.lines[0]) {
				t.Errorf("transcript %q", r.lines)
			}
		})
	}
}

func TestBrainFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said []conversation.Step
		want string
	}{
		"without words": {nil, sorry},
		"after words":   {say("Oh no."), "Oh no."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &brain{answer: func(conversation.Turn) []conversation.Step { return c.said }, err: errEngine}
			r := run(t, conversation.Config{}, b, func(context.Context, *agentstest.Phone) {})
			if !errors.Is(r.err, errEngine) || r.outcome.By != conversation.ByFailure || r.phone.Heard() != c.want {
				t.Errorf("outcome %+v, %v, heard %q", r.outcome, r.err, r.phone.Heard())
			}
			expectLines(t, r, "agent: "+c.want)
		})
	}
}

// TestPatience checks that a hanging brain or synthesizer ends the conversation, with the apology if the synthesizer can speak. A hanging
// recognizer does so at the second utterance.
func TestPatience(t *testing.T) {
	t.Parallel()
	t.Run("brain", func(t *testing.T) {
		t.Parallel()
		b := &brain{answer: func(conversation.Turn) []conversation.Step { return say("x") }, delay: time.Hour}
		r := run(t, conversation.Config{}, b, func(context.Context, *agentstest.Phone) {})
		if !errors.Is(r.err, callwright.ErrUnavailable) || r.phone.Heard() != sorry || r.outcome.By != conversation.ByFailure {
			t.Errorf("outcome %+v, %v, heard %q", r.outcome, r.err, r.phone.Heard())
		}
	})
	t.Run("synthesizer", func(t *testing.T) {
		t.Parallel()
		r := run(t, conversation.Config{Synthesizer: &agentstest.Synthesizer{Delay: time.Hour}}, parrot(1), func(context.Context, *agentstest.Phone) {})
		if !errors.Is(r.err, callwright.ErrUnavailable) || r.outcome.By != conversation.ByFailure || r.phone.Elapsed() > 41*time.Second {
			t.Errorf("outcome %+v, %v after %s", r.outcome, r.err, r.phone.Elapsed())
		}
	})
	t.Run("synthesizer in the middle", func(t *testing.T) {
		t.Parallel()
		engine := &agentstest.Synthesizer{Sound: func(s tts.Request) []int16 {
			if s.Text == sorry {
				return agentstest.Voice("sorry", s.Rate)
			}
			return agentstest.Voice(s.Text, s.Rate)
		}}
		b := &brain{answer: func(conversation.Turn) []conversation.Step { return say("One.", "Two.") }}
		r := run(t, conversation.Config{Synthesizer: stuck{engine, "Two."}}, b, func(context.Context, *agentstest.Phone) {})
		if !errors.Is(r.err, callwright.ErrUnavailable) || r.phone.Heard() != "One.sorry" {
			t.Errorf("outcome %+v, %v, heard %q", r.outcome, r.err, r.phone.Heard())
		}
	})
	t.Run("recognizer", func(t *testing.T) {
		t.Parallel()
		r := run(t, conversation.Config{Recognizer: &agentstest.Recognizer{Delay: time.Hour}}, parrot(9), func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitHeard(ctx, "start"))
			p.Say("hello there")
			must(t, p.WaitHeard(ctx, "speech"))
			p.Say("are you there")
		})
		if !errors.Is(r.err, callwright.ErrUnavailable) || r.phone.Heard() != "startspeech"+sorry || r.phone.Elapsed() > time.Minute {
			t.Errorf("outcome %+v, %v, heard %q", r.outcome, r.err, r.phone.Heard())
		}
	})
}

// TestPeerThatIsSilentAtFirst checks that a conversation does not fail while the agent's words wait for the peer's first packet. The agent
// says the words when the packet arrives, or the call ends by itself.
func TestPeerThatIsSilentAtFirst(t *testing.T) {
	t.Parallel()
	for name, greeted := range map[string]bool{"the agent speaks first": false, "the agent waits for a greeting": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runUnproven(t, conversation.Config{WaitForGreeting: greeted}, parrot(1), func(ctx context.Context, p *agentstest.Phone) {
				must(t, p.WaitElapsed(ctx, 55*time.Second))
				p.Play(make([]int16, 160))
			})
			if r.err != nil || r.outcome.By != conversation.ByAgent || r.phone.Heard() != "start" {
				t.Errorf("outcome %+v, %v, heard %q", r.outcome, r.err, r.phone.Heard())
			}
		})
	}
	keys := &brain{answer: func(conversation.Turn) []conversation.Step {
		return []conversation.Step{conversation.Press{Digits: "1"}, conversation.Say{Text: "start"}, conversation.End{}}
	}}
	r := runUnproven(t, conversation.Config{}, keys, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, 25*time.Second))
		p.Play(make([]int16, 160))
	})
	if r.err != nil || r.outcome.By != conversation.ByAgent || r.phone.Pressed() != "1" || r.phone.Heard() != "start" {
		t.Errorf("an agent that presses first: outcome %+v, %v, heard %q", r.outcome, r.err, r.phone.Heard())
	}
	r = runUnproven(t, conversation.Config{}, parrot(1), func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, 30*time.Second))
		p.Vanish()
	})
	if r.err != nil || r.outcome.By != conversation.ByPeer || r.phone.Heard() != "" {
		t.Errorf("a peer that is never heard: outcome %+v, %v, heard %q", r.outcome, r.err, r.phone.Heard())
	}
}

// runUnproven runs a conversation with a peer that can receive no audio until it sends some.
func runUnproven(t *testing.T, c conversation.Config, b conversation.Brain, caller callerFunc) result {
	t.Helper()
	return runWith(t, agentstest.PhoneConfig{Unproven: true}, c, b, 5*time.Minute, caller, func(l *agentstest.Leg) conversation.Audio { return l })
}

// stuck is a synthesizer that hangs at the given text.
type stuck struct {
	tts.Synthesizer
	text string
}

func (s stuck) Synthesize(ctx context.Context, speech tts.Request) (tts.Stream, error) {
	if speech.Text == s.text {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Synthesizer.Synthesize(ctx, speech)
}

// TestHangsUp checks that the conversation ends with the call, whenever the caller hangs up, and that the transcript contains all words.
func TestHangsUp(t *testing.T) {
	t.Parallel()
	script := func(p *agentstest.Phone, ctx context.Context) {
		if p.WaitElapsed(ctx, 1400*time.Millisecond) == nil { // the agent says "start" within 600 ms
			p.Say("hello")
		}
		if p.WaitElapsed(ctx, 4500*time.Millisecond) == nil {
			p.Press("12")
		}
	}
	for at := 0 * time.Second; at < 8*time.Second; at += 260 * time.Millisecond {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			b := parrot(9)
			b.delay = 100 * time.Millisecond
			c := conversation.Config{Recognizer: &agentstest.Recognizer{Delay: 200 * time.Millisecond}}
			r := run(t, c, b, func(ctx context.Context, p *agentstest.Phone) {
				go script(p, ctx)
				must(t, p.WaitElapsed(ctx, at))
				p.Hangup()
			})
			if r.err != nil || r.outcome.By != conversation.ByPeer {
				t.Errorf("outcome %+v, %v", r.outcome, r.err)
			}
			if all := strings.Join(r.lines, " "); at > 1800*time.Millisecond && !strings.Contains(all, "caller: hello") {
				t.Errorf("the transcript has not what the caller said: %q", r.lines)
			}
		})
	}
}

// TestLastWordsAreBounded checks that a hanging recognizer delays the end of a conversation by at most Config.LastWords.
func TestLastWordsAreBounded(t *testing.T) {
	t.Parallel()
	r := run(t, conversation.Config{Recognizer: &agentstest.Recognizer{Delay: time.Hour}}, parrot(9), func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, 1200*time.Millisecond))
		p.Say("hello")
		must(t, p.WaitElapsed(ctx, 1500*time.Millisecond))
		p.Hangup()
	})
	if r.outcome.By != conversation.ByPeer || r.err != nil || r.took < 4*time.Second || r.took > 5*time.Second {
		t.Errorf("outcome %+v, %v, after %s", r.outcome, r.err, r.took)
	}
	if last := r.lines[len(r.lines)-1]; last != "caller:  [timeout]" {
		t.Errorf("the transcript is %q", r.lines)
	}
}

// TestStopped checks that the end of the context ends the conversation immediately, whenever it happens.
func TestStopped(t *testing.T) {
	t.Parallel()
	for at := 100 * time.Millisecond; at < 6*time.Second; at += 470 * time.Millisecond {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			c := conversation.Config{Recognizer: &agentstest.Recognizer{Delay: time.Second}}
			r := runFor(t, c, parrot(9), at, func(ctx context.Context, p *agentstest.Phone) {
				if p.WaitElapsed(ctx, 1400*time.Millisecond) == nil {
					p.Say("hello")
				}
			})
			if r.err != nil || r.outcome.By != conversation.ByContext || r.phone.Elapsed() > at+40*time.Millisecond {
				t.Errorf("outcome %+v, %v, at %s", r.outcome, r.err, r.phone.Elapsed())
			}
		})
	}
}

// TestStorm checks that conversations with callers who act at random end without an error, and that the agent's transcript matches the
// words that the phone heard.
func TestStorm(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
				if strings.Contains(turn.Text, "z") {
					return append(say("Bye now."), conversation.End{})
				}
				return append(say("You said "+turn.Text+".", "I see, I see.", "And then?"), conversation.Expect{Phrases: []string{"a"}})
			}, delay: time.Duration(seed%5) * 50 * time.Millisecond}
			c := conversation.Config{
				Recognizer:  &agentstest.Recognizer{Delay: time.Duration(seed%3) * 150 * time.Millisecond},
				Synthesizer: &agentstest.Synthesizer{Delay: time.Duration(seed%4) * 70 * time.Millisecond},
			}
			r := run(t, c, b, func(ctx context.Context, p *agentstest.Phone) { storm(ctx, p, seed) })
			if r.err != nil || r.outcome.By == conversation.ByContext {
				t.Errorf("outcome %+v, %v", r.outcome, r.err)
			}
			var agent strings.Builder
			for _, e := range r.entries {
				if e.Role == conversation.RoleAgent {
					agent.WriteString(e.Text)
				}
			}
			heard, said := strip(r.phone.Heard()), strip(agent.String())
			if !subsequence(said, heard) || len(heard)-len(said) > 12*len(r.entries)+12 {
				t.Errorf("the transcript has %q, the phone heard %q", said, heard)
			}
		})
	}
}

// storm acts at random for half a minute, and then hangs up or lets the agent hang up.
func storm(ctx context.Context, p *agentstest.Phone, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	for p.Elapsed() < 30*time.Second {
		if p.WaitElapsed(ctx, p.Elapsed()+time.Duration(r.IntN(2500))*time.Millisecond) != nil {
			return
		}
		switch r.IntN(8) {
		case 0, 1, 2:
			p.Say([]string{"yes", "no way", "wait a moment please", "mm", "what is that"}[r.IntN(5)])
		case 3:
			p.Press("12#"[:1+r.IntN(3)])
		case 4:
			p.Hold(true)
		case 5:
			p.Hold(false)
		case 6:
			p.Play(make([]int16, 8*r.IntN(900)))
		default:
		}
	}
	p.Hold(false)
	if seed%2 == 0 {
		p.Hangup()
		return
	}
	for range 20 { // until the agent understands the word
		p.Say("zzzz")
		if p.WaitElapsed(ctx, p.Elapsed()+3*time.Second) != nil {
			return
		}
	}
}

func strip(s string) string { return strings.ReplaceAll(s, " ", "") }

// subsequence reports whether whole contains all characters of part, in order.
func subsequence(part, whole string) bool {
	for _, r := range part {
		at := strings.IndexRune(whole, r)
		if at < 0 {
			return false
		}
		whole = whole[at+len(string(r)):]
	}
	return true
}
