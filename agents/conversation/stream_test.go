package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/conversation/expect"
)

// streams returns a streaming recognizer of usual latency.
func streams() *agentstest.StreamingRecognizer {
	return &agentstest.StreamingRecognizer{
		Recognizer: agentstest.Recognizer{Delay: 150 * time.Millisecond}, Lag: 150 * time.Millisecond,
	}
}

// spoken returns speech: the texts with pauses between them.
func spoken(pause time.Duration, texts ...string) []int16 {
	var out []int16
	for i, text := range texts {
		if i > 0 {
			out = append(out, make([]int16, int(pause.Milliseconds())*8)...)
		}
		out = append(out, agentstest.Voice(text, 8000)...)
	}
	return out
}

// TestPartials checks that the observer receives the words of a turn while the caller speaks, and then the same turn's entry.
func TestPartials(t *testing.T) {
	t.Parallel()
	b := parrot(2)
	r := run(t, conversation.Config{Recognizer: streams(), Turns: endpoint.Rules{}}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "start"))
		must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
		p.Play(spoken(600*time.Millisecond, "i would like to", "book a table"))
	})
	var texts []string
	for _, p := range r.partials {
		if p.Turn != 1 || p.Start != r.entries[1].Start || p.Stable > len(strings.Fields(p.Text)) {
			t.Errorf("partial %+v, entry %+v", p, r.entries[1])
		}
		if len(texts) == 0 || texts[len(texts)-1] != p.Text {
			texts = append(texts, p.Text)
		}
	}
	const want = "i, i would, i would like, i would like to, i would like to book, i would like to book a, i would like to book a table"
	if got := strings.Join(texts, ", "); got != want {
		t.Errorf("partial texts %s", got)
	}
	expectLines(t, r, "agent: start", "caller: i would like to book a table", "agent: speech i would like to book a table")
	if e := r.entries[1]; e.Turn != 1 || r.entries[2].Turn != 1 || e.Waited <= 0 || e.WaitedFor != endpoint.Plain {
		t.Errorf("entries %+v", r.entries)
	}
}

// TestOverlappingPartials checks that the observer receives the words that a caller says over the agent, and that they belong to no turn
// before they interrupt the agent.
func TestOverlappingPartials(t *testing.T) {
	t.Parallel()
	for _, level := range []conversation.Interruptibility{conversation.NormallyInterrupted, conversation.NeverInterrupted} {
		for said, turn := range map[string]int{"uh huh": 0, "but now i have a question about it": 1} {
			t.Run(fmt.Sprint(level, " ", said), func(t *testing.T) {
				t.Parallel()
				r := overReading(t, conversation.Config{Recognizer: streams(), Interruptibility: level}, readsAloud(), func(_ context.Context, p *agentstest.Phone) {
					p.Say(said)
				})
				first, last := r.partials[0], r.partials[len(r.partials)-1]
				if first.Turn != 0 || first.Text != strings.Fields(said)[0] || last.Text != said || last.Turn != turn || first.Start != last.Start {
					t.Errorf("partial texts %+v", r.partials)
				}
			})
		}
	}
}

// TestWithdrawnPartial checks that a partial text which was no words is withdrawn, while the agent is silent, speaks, or cannot be interrupted.
func TestWithdrawnPartial(t *testing.T) {
	t.Parallel()
	noise := func(h conversation.Heard) []conversation.Heard {
		if h.Final {
			h.Text, h.Stable = "", 0
		}
		return []conversation.Heard{h}
	}
	check := func(t *testing.T, r result, turn int) {
		t.Helper()
		n := len(r.partials)
		if n < 2 || r.shown > r.took-2*time.Second || r.partials[n-2].Text != "hm" || r.partials[n-1].Text != "" || r.partials[n-1].Turn != turn {
			t.Errorf("partial texts %+v", r.partials)
		}
	}
	for _, level := range []conversation.Interruptibility{conversation.NormallyInterrupted, conversation.NeverInterrupted} {
		t.Run(fmt.Sprint("over the agent at level ", level), func(t *testing.T) {
			t.Parallel()
			engine, b := streams(), readsAloud()
			engine.Alter = noise
			r := overReading(t, conversation.Config{Recognizer: engine, Interruptibility: level}, b, func(_ context.Context, p *agentstest.Phone) {
				p.Play(agentstest.Voice("hm", 8000))
				p.Play(agentstest.Voice("    ", 8000))
				p.Play(buzz(200 * time.Millisecond))
			})
			check(t, r, 0)
		})
	}
	t.Run("in silence", func(t *testing.T) {
		t.Parallel()
		engine := streams()
		engine.Alter = noise
		r := run(t, conversation.Config{Recognizer: engine, Silence: 3 * time.Second}, parrot(2), func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitHeard(ctx, "start"))
			must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
			p.Say("hm")
		})
		check(t, r, 1)
	})
}

// TestStreamedOverlap checks that an acknowledgement continues the answer before its text is final, and that words cut it before the
// caller has finished.
func TestStreamedOverlap(t *testing.T) {
	t.Parallel()
	t.Run("acknowledgement", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"uh huh", "okay", "ummmm"} {
			b, engine := readsAloud(), streams()
			engine.Delay = 4 * time.Second
			r := overReading(t, conversation.Config{Recognizer: engine}, b, func(_ context.Context, p *agentstest.Phone) { p.Say(text) })
			checkReadOnce(t, r, b, 1)
			if holds := r.entries[0].Holds; len(holds) != 1 || holds[0].Length > 700*time.Millisecond ||
				holds[0].Why != conversation.HoldBackChannel && holds[0].Why != conversation.HoldFiller {
				t.Errorf("%s: holds %+v", text, holds)
			}
			expectLines(t, r, "agent: "+reading, "caller: "+text)
		}
	})
	t.Run("an acknowledgement that turns into words", func(t *testing.T) {
		t.Parallel()
		b, engine := readsAloud(), streams()
		engine.Alter = func(h conversation.Heard) []conversation.Heard {
			if h.Final {
				h.Text = strings.ReplaceAll(h.Text, "okay", "oh what")
			}
			return []conversation.Heard{h}
		}
		engine.Delay = time.Second
		overReading(t, conversation.Config{Recognizer: engine}, b, func(ctx context.Context, p *agentstest.Phone) {
			p.Say("okay")
			must(t, p.WaitHeard(ctx, "yes?"))
			must(t, p.WaitQuiet(ctx, time.Second))
			p.Say("bye")
		})
		if turns := b.asked(); len(turns) != 3 || turns[1].Text != "oh what" || !turns[1].Interrupted {
			t.Errorf("turns %+v", turns)
		}
	})
	t.Run("words", func(t *testing.T) {
		t.Parallel()
		b := readsAloud()
		r := overReading(t, conversation.Config{Recognizer: streams()}, b, func(ctx context.Context, p *agentstest.Phone) {
			p.Say("but now i have a question about it")
			must(t, p.WaitHeard(ctx, "yes?"))
			must(t, p.WaitQuiet(ctx, time.Second))
			p.Say("bye")
		})
		turns := b.asked()
		if len(turns) != 3 || turns[1].Text != "but now i have a question about it" || !turns[1].Interrupted || !strings.HasPrefix(reading, turns[1].Heard) {
			t.Fatalf("turns %+v, transcript %q", turns, r.lines)
		}
		if holds := r.entries[0].Holds; len(holds) != 1 || holds[0].Why != conversation.HoldCut || holds[0].Length > 700*time.Millisecond {
			t.Errorf("holds %+v", holds)
		}
	})
}

// badStreams returns streaming recognizers that understand every utterance, and violate the duties of a Stream, or lose sessions.
func badStreams() map[string]*agentstest.StreamingRecognizer {
	once := func(after string) func(int, string) error {
		done := false
		return func(_ int, text string) error {
			if done || !strings.HasPrefix(text, after) {
				return nil
			}
			done = true
			return errEngine
		}
	}
	return map[string]*agentstest.StreamingRecognizer{
		"shrinking partial texts": {Alter: func(h conversation.Heard) []conversation.Heard {
			short := h
			short.Text, short.Final = strings.TrimSuffix(h.Text, "now"), false
			return []conversation.Heard{h, short, h}
		}},
		"a final text before the partial texts": {Alter: func(h conversation.Heard) []conversation.Heard {
			if late := h; h.Final {
				late.Final, late.Text = false, "what time"
				return []conversation.Heard{h, late}
			}
			return nil
		}},
		"final texts twice": {Alter: func(h conversation.Heard) []conversation.Heard { return []conversation.Heard{h, h} }},
		"a final text before the end": {Alter: func(h conversation.Heard) []conversation.Heard {
			h.Final = true
			return []conversation.Heard{h}
		}},
		"unknown utterances": {Alter: func(h conversation.Heard) []conversation.Heard {
			other, negative := h, h
			other.Utterance, negative.Utterance = h.Utterance+7, -1
			return []conversation.Heard{other, negative, h}
		}},
		"a loss before the first word":       {Break: once("")},
		"a loss in the middle of a sentence": {Break: once("what time")},
		"a refusal": {Refuse: func(session int) error {
			if session == 0 {
				return errEngine
			}
			return nil
		}},
		"a loss at the end": {Recognizer: agentstest.Recognizer{Fail: func() func(string) error {
			failed := false
			return func(string) error {
				if failed {
					return nil
				}
				failed = true
				return errEngine
			}
		}()}},
	}
}

// TestBadStreams checks that the caller's words arrive once and complete, whatever an engine does.
func TestBadStreams(t *testing.T) {
	t.Parallel()
	const said = "what time is it now"
	for name, engine := range badStreams() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := parrot(3)
			r := run(t, conversation.Config{Recognizer: engine}, b, func(ctx context.Context, p *agentstest.Phone) {
				for _, after := range []string{"start", "speech " + said} {
					must(t, p.WaitHeard(ctx, after))
					must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
					p.Say(said)
				}
			})
			if r.err != nil {
				t.Error(r.err)
			}
			expectLines(t, r, "agent: start", "caller: "+said, "agent: speech "+said, "caller: "+said, "agent: speech "+said)
		})
	}
}

// TestBadStreamsOverTheAgent checks that words over the agent are answered once and complete, and that an acknowledgement leaves the answer
// whole, whatever an engine does.
func TestBadStreamsOverTheAgent(t *testing.T) {
	t.Parallel()
	for name, engine := range badStreams() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const said = "what time is it now"
			b := readsAloud()
			r := overReading(t, conversation.Config{Recognizer: engine}, b, func(ctx context.Context, p *agentstest.Phone) {
				p.Say(said)
				must(t, p.WaitHeard(ctx, "yes?"))
				must(t, p.WaitQuiet(ctx, time.Second))
				p.Say("bye")
			})
			if turns := b.asked(); r.err != nil || len(turns) != 3 || turns[1].Text != said || !turns[1].Interrupted || turns[2].Text != "bye" {
				t.Errorf("turns %+v, outcome %+v, %v", turns, r.outcome, r.err)
			}
		})
	}
	for name, engine := range badStreams() {
		t.Run(name+", acknowledgement", func(t *testing.T) {
			t.Parallel()
			b := readsAloud()
			r := overReading(t, conversation.Config{Recognizer: engine}, b, func(_ context.Context, p *agentstest.Phone) { p.Say("uh huh") })
			checkReadOnce(t, r, b, 1)
		})
	}
}

// TestSilentStream checks that an engine which returns no text is replaced after Config.Patience. Its first failure is a turn without
// words, and the second consecutive one ends the conversation.
func TestSilentStream(t *testing.T) {
	t.Parallel()
	for name, sessions := range map[string]int{"once": 1, "always": 99} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := streams()
			engine.Alter = func(h conversation.Heard) []conversation.Heard {
				if engine.Sessions() <= sessions {
					return nil
				}
				return []conversation.Heard{h}
			}
			b := parrot(3)
			r := run(t, conversation.Config{Recognizer: engine, Patience: 10 * time.Second}, b, func(ctx context.Context, p *agentstest.Phone) {
				for _, after := range []string{"start", "speech"} {
					must(t, p.WaitHeard(ctx, after))
					must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
					p.Say("hello")
				}
			})
			if sessions == 1 {
				expectLines(t, r, "agent: start", "caller:  [timeout]", "agent: speech", "caller: hello", "agent: speech hello")
				return
			}
			if r.outcome.By != conversation.ByFailure || r.phone.Elapsed() > 40*time.Second {
				t.Errorf("outcome %+v, %v after %s", r.outcome, r.err, r.phone.Elapsed())
			}
			expectLines(t, r, "agent: start", "caller:  [timeout]", "agent: speech", "caller:  [timeout]", "agent: "+sorry)
		})
	}
}

// TestRefusedSessions checks that an engine which refuses every session fails like a Recognizer.
func TestRefusedSessions(t *testing.T) {
	t.Parallel()
	engine := streams()
	engine.Refuse = func(int) error { return errEngine }
	r := run(t, conversation.Config{Recognizer: engine}, parrot(9), func(ctx context.Context, p *agentstest.Phone) {
		for _, after := range []string{"start", "speech"} {
			must(t, p.WaitHeard(ctx, after))
			must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
			p.Say("hello")
		}
	})
	if !errors.Is(r.err, errEngine) || r.outcome.By != conversation.ByFailure {
		t.Errorf("outcome %+v, %v", r.outcome, r.err)
	}
	if n := engine.Sessions(); n < 4 || n > 12 {
		t.Errorf("%d sessions", n)
	}
}

// TestSlowNumber checks that a number with the pauses of people is one turn, with all digits.
func TestSlowNumber(t *testing.T) {
	t.Parallel()
	for name, engine := range map[string]conversation.Recognizer{
		"batch": &agentstest.Recognizer{Delay: 200 * time.Millisecond}, "streaming": streams(),
	} {
		for _, c := range []struct {
			pause time.Duration
			parts []string
		}{
			{900 * time.Millisecond, []string{"four one five", "five six five", "zero one two three"}},
			{500 * time.Millisecond, []string{"four", "one five", "five", "nine six zero", "one two", "three"}},
		} {
			t.Run(name+" "+c.pause.String(), func(t *testing.T) {
				t.Parallel()
				b := parrot(2)
				r := run(t, conversation.Config{Recognizer: engine, Turns: endpoint.Rules{}}, b, func(ctx context.Context, p *agentstest.Phone) {
					must(t, p.WaitHeard(ctx, "start"))
					must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
					p.Play(spoken(c.pause, c.parts...))
				})
				number := strings.Join(c.parts, " ")
				expectLines(t, r, "agent: start", "caller: "+number, "agent: speech "+number)
				if e := r.entries[1]; e.End-e.Start < time.Duration(len(c.parts)-1)*c.pause {
					t.Errorf("the number lasts from %s to %s", e.Start, e.End)
				}
			})
		}
	}
}

// evidence is a TurnDetector that records the evidence.
type evidence struct {
	endpoint.Rules
	all []endpoint.Evidence
}

func (d *evidence) Judge(e endpoint.Evidence) endpoint.Wait {
	d.all = append(d.all, e)
	return d.Rules.Judge(e)
}

// TestEvidence checks what the TurnDetector and the recognizer are told.
func TestEvidence(t *testing.T) {
	t.Parallel()
	b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
		if turn.Kind == conversation.TurnStart {
			return append(say("your number?"), conversation.Expect{
				Phrases: []string{"one"}, Answer: expect.Answer{Kind: expect.Digits, Min: 3, Max: 5}, Least: 400 * time.Millisecond, Longest: 5 * time.Second,
			})
		}
		return []conversation.Step{conversation.End{}}
	}}
	var heard conversation.Hearing
	engine := streams()
	engine.Hear = func(h conversation.Hearing) { heard = h }
	d := &evidence{}
	r := run(t, conversation.Config{Recognizer: engine, Turns: d, Language: "en-US", Keywords: []string{"Acme"}}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "number?"))
		must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
		p.Play(spoken(600*time.Millisecond, "it is one", "two three"))
	})
	last := d.all[len(d.all)-1]
	if last.Text != "it is one two three" || !last.Known || last.Asked != "your number?" || last.Language != "en-US" || last.Forced ||
		last.Least != 400*time.Millisecond || last.Longest != 5*time.Second || len(last.Phrases) != 1 || len(last.Pauses) != 1 ||
		last.Pauses[0] < 550*time.Millisecond || last.Pauses[0] > 650*time.Millisecond {
		t.Errorf("the last evidence is %+v", last)
	}
	if e := r.entries[1].Expected; e != (conversation.Expected{Kind: expect.Digits, Min: 3, Max: 5, Digits: "123"}) {
		t.Errorf("the transcript says %+v", e)
	}
	if len(heard.Keywords) != 1 || len(heard.Phrases) != 1 || heard.Rate != 8000 {
		t.Errorf("the recognizer was told %+v", heard)
	}
}
