package conversation_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/activity"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// parrot returns a brain that repeats the kind and the text of each turn, and ends the conversation after the given number of turns.
func parrot(turns int) *brain {
	b := &brain{}
	n := 0
	b.answer = func(t conversation.Turn) []conversation.Step {
		n++
		out := say(strings.TrimSpace(string(t.Kind) + " " + t.Text))
		if n == turns {
			out = append(out, conversation.End{})
		}
		return out
	}
	return b
}

func TestDigits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		press func(ctx context.Context, p *agentstest.Phone)
		want  string
	}{
		"to the hash": {func(_ context.Context, p *agentstest.Phone) { p.Press("12#") }, "12"},
		"to the time": {func(_ context.Context, p *agentstest.Phone) { p.Press("42") }, "42"},
		"hash alone":  {func(_ context.Context, p *agentstest.Phone) { p.Press("#") }, "#"},
		"slowly": {func(ctx context.Context, p *agentstest.Phone) {
			for _, d := range []string{"1", "2", "3"} {
				p.Press(d)
				must(t, p.WaitElapsed(ctx, p.Elapsed()+1500*time.Millisecond))
			}
		}, "123"},
		"too many": {func(_ context.Context, p *agentstest.Phone) { p.Press(strings.Repeat("7", 64)) }, strings.Repeat("7", 64)},
		"with the sound of the keys": {func(_ context.Context, p *agentstest.Phone) {
			p.Say("ab") // sounds like an in-band tone
			p.Press("9#")
		}, "9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := parrot(2)
			r := run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
				must(t, p.WaitHeard(ctx, "start"))
				must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
				c.press(ctx, p)
			})
			turns := b.asked()
			if len(turns) != 2 || turns[1].Kind != conversation.TurnDigits || turns[1].Text != c.want {
				t.Fatalf("turns %+v, %v", turns, r.err)
			}
			expectLines(t, r, "agent: start", "caller pressed: "+c.want, "agent: digits "+c.want)
		})
	}
	t.Run("a key silences the agent", func(t *testing.T) {
		t.Parallel()
		b := chatty()
		run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitElapsed(ctx, time.Second))
			p.Press("1")
		})
		turns := b.asked()
		if len(turns) != 2 || turns[1].Text != "1" || !turns[1].Interrupted || !strings.HasPrefix(story, turns[1].Heard) {
			t.Errorf("turns %+v", turns)
		}
	})
}

func TestSilence(t *testing.T) {
	t.Parallel()
	b := parrot(3)
	r := run(t, conversation.Config{}, b, func(context.Context, *agentstest.Phone) {})
	expectLines(t, r, "agent: start", "agent: silence", "agent: silence")
	if gap := r.entries[1].Start - r.entries[0].End; gap < 10*time.Second || gap > 10*time.Second+100*time.Millisecond {
		t.Errorf("the silence was %s long", gap)
	}
}

// still is a clock that always returns the same time.
type still struct{}

func (still) Now() time.Time { return time.Unix(1e9, 0) }

// TestCallTime checks that times in the transcript follow the call's frames, not the clock.
func TestCallTime(t *testing.T) {
	t.Parallel()
	b := parrot(2)
	r := run(t, conversation.Config{Runtime: callwright.Runtime{Clock: still{}}}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "start"))
		must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
		p.Say("hello")
	})
	expectLines(t, r, "agent: start", "caller: hello", "agent: speech hello")
	for i, e := range r.entries {
		if e.Start <= 0 || e.End-e.Start < 240*time.Millisecond || i > 0 && e.Start < r.entries[i-1].End {
			t.Errorf("entry %d lasts from %s to %s", i, e.Start, e.End)
		}
	}
	if len(r.outcome.Answers) != 1 || r.outcome.Answers[0].Playing < 500*time.Millisecond {
		t.Errorf("the latencies are %+v", r.outcome.Answers)
	}
}

func TestWaitForGreeting(t *testing.T) {
	t.Parallel()
	t.Run("the caller speaks", func(t *testing.T) {
		t.Parallel()
		b := parrot(1)
		r := run(t, conversation.Config{WaitForGreeting: true}, b, func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitElapsed(ctx, 3*time.Second))
			p.Say("hello")
		})
		expectLines(t, r, "caller: hello", "agent: speech hello")
	})
	t.Run("the caller is silent", func(t *testing.T) {
		t.Parallel()
		r := run(t, conversation.Config{WaitForGreeting: true, Silence: 2 * time.Second}, parrot(1),
			func(context.Context, *agentstest.Phone) {})
		expectLines(t, r, "agent: start")
		if r.entries[0].Start < 2*time.Second {
			t.Errorf("the agent spoke at %s", r.entries[0].Start)
		}
	})
}

// TestHold checks that timers stop while the call is on hold, and that the agent speaks at most its queued words during the hold.
func TestHold(t *testing.T) {
	t.Parallel()
	b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
		if turn.Kind == conversation.TurnStart {
			return say(story)
		}
		return []conversation.Step{conversation.End{}}
	}}
	var ended time.Duration
	r := run(t, conversation.Config{Silence: 2 * time.Second}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, time.Second))
		before := len(p.Heard())
		p.Hold(true)
		must(t, p.WaitElapsed(ctx, 60*time.Second))
		if got := len(p.Heard()) - before; got > 6 {
			t.Errorf("%d letters were spoken on hold", got)
		}
		p.Hold(false)
		must(t, p.WaitHeard(ctx, story)) // the rest of the last letter is still queued
		p.Hold(true)
		must(t, p.WaitElapsed(ctx, 100*time.Second))
		p.Hold(false)
		ended = p.Elapsed()
		<-p.Done()
		ended = p.Elapsed() - ended
	})
	expectLines(t, r, "agent: "+story)
	if h := r.entries[0].Holds; len(h) != 2 || h[0].Why != conversation.HoldOnHold || h[0].Start < time.Second || h[0].Start > 1100*time.Millisecond || (h[0].Start+h[0].Length).Round(100*time.Millisecond) != 60*time.Second {
		t.Errorf("the pauses are %+v", h)
	}
	if turns := b.asked(); len(turns) != 2 || turns[1].Kind != conversation.TurnSilence || ended < 1900*time.Millisecond {
		t.Errorf("turns %+v, the last %s after the hold", turns, ended)
	}
}

// gullible is an Activity that takes every sound for certain speech.
type gullible struct{}

func (gullible) Hear(in, _ []int16) activity.Verdict {
	if level := pcm.Loudness(in); level > pcm.SilenceDB {
		return activity.Verdict{Kind: activity.Speech, Level: level, Certainty: 1}
	}
	return activity.Verdict{Level: pcm.SilenceDB}
}

// TestCrackle checks that a crackling line neither begins a turn nor prevents the end of a turn.
func TestCrackle(t *testing.T) {
	t.Parallel()
	crackle := func(d time.Duration) []int16 {
		out := make([]int16, int(d.Milliseconds())*8)
		for i := range out {
			if i%1280 < 12 { // every 160 ms
				out[i] = int16(9000 - 18000*(i/3%2))
			}
		}
		return out
	}
	b := parrot(3)
	var said time.Duration
	r := run(t, conversation.Config{Activity: func(int) conversation.Activity { return gullible{} }}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "start"))
		must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
		p.Play(crackle(3 * time.Second))
		must(t, p.WaitElapsed(ctx, p.Elapsed()+3*time.Second))
		p.Say("hello")
		said = p.Elapsed() + 300*time.Millisecond
		p.Play(crackle(3 * time.Second))
	})
	expectLines(t, r, "agent: start", "caller: hello", "agent: speech hello", "agent: silence")
	if len(r.entries) > 2 && r.entries[2].Start-said > 600*time.Millisecond {
		t.Errorf("the answer came after %s", r.entries[2].Start-said)
	}
}

// TestEffects checks that digits and a transfer follow the words before them.
func TestEffects(t *testing.T) {
	t.Parallel()
	b := &brain{answer: func(conversation.Turn) []conversation.Step {
		return append(append(say("Press one."), conversation.Press{Digits: "1w", Show: true}, conversation.Press{Digits: "2"}), conversation.Say{Text: "Bye."},
			conversation.Transfer{To: "+15550100"}, conversation.Say{Text: "Never said."})
	}}
	r := run(t, conversation.Config{}, b, func(context.Context, *agentstest.Phone) {})
	if r.phone.Heard() != "Press one.Bye." || r.phone.Pressed() != "1w2" || r.outcome.TransferTo != "+15550100" ||
		r.outcome.By != conversation.ByAgent || r.err != nil {
		t.Errorf("heard %q, pressed %q, outcome %+v, %v", r.phone.Heard(), r.phone.Pressed(), r.outcome, r.err)
	}
	expectLines(t, r, "agent: Press one. Bye.", "agent pressed: 1w", "agent pressed: •")
}

// TestExpect checks that the brain's expected phrases reach the recognizer until they are replaced.
func TestExpect(t *testing.T) {
	t.Parallel()
	n := 0
	b := &brain{answer: func(conversation.Turn) []conversation.Step {
		n++
		switch n {
		case 1:
			return append(say("Yes or no?"), conversation.Expect{Phrases: []string{"yes", "no"}})
		case 2:
			return say("And then?")
		default:
			return []conversation.Step{conversation.End{}}
		}
	}}
	var heard []string
	engine := &agentstest.Recognizer{Hear: func(h conversation.Hearing) {
		heard = append(heard, fmt.Sprint(h.Rate, h.Language, h.Phrases))
	}}
	run(t, conversation.Config{Recognizer: engine, Language: "en-US"}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "no?"))
		must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
		p.Say("yes")
		must(t, p.WaitHeard(ctx, "then?"))
		must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
		p.Say("nothing")
	})
	if want := []string{"8000en-US[yes no]", "8000en-US[]"}; !slices.Equal(heard, want) {
		t.Errorf("the recognizer was told %q, want %q", heard, want)
	}
}

// TestOneAhead checks that only the next sentence is synthesized while a sentence is played, and that there is no gap between them.
func TestOneAhead(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var begun []time.Duration
	var zero time.Time
	engine := &agentstest.Synthesizer{Delay: 300 * time.Millisecond, Hear: func(tts.Request) {
		mu.Lock()
		defer mu.Unlock()
		if zero.IsZero() {
			zero = time.Now()
		}
		begun = append(begun, time.Since(zero))
	}}
	b := &brain{answer: func(conversation.Turn) []conversation.Step {
		return append(say("The first sentence.", "The second one is it.", "The third."), conversation.End{})
	}}
	r := run(t, conversation.Config{Synthesizer: engine}, b, func(context.Context, *agentstest.Phone) {})
	expectLines(t, r, "agent: The first sentence. The second one is it. The third.")
	const first = 300*time.Millisecond + 19*60*time.Millisecond // delay and duration of the first sentence
	if len(begun) != 3 || begun[1] > 100*time.Millisecond || begun[2] < first-400*time.Millisecond || begun[2] > first {
		t.Errorf("the sentences were begun at %v", begun)
	}
	if took := r.entries[0].End - r.entries[0].Start; took > (19+21+10)*60*time.Millisecond+20*time.Millisecond {
		t.Errorf("50 letters took %s", took)
	}
}

// TestLongSay checks that a text longer than tts.MaxText is said in pieces.
func TestLongSay(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("word ", 1100))
	var longest atomic.Int64
	engine := &agentstest.Synthesizer{
		Hear:  func(s tts.Request) { longest.Store(max(longest.Load(), int64(len(s.Text)))) },
		Sound: func(s tts.Request) []int16 { return make([]int16, len(s.Text)) },
	}
	b := &brain{answer: func(conversation.Turn) []conversation.Step { return append(say(long), conversation.End{}) }}
	r := run(t, conversation.Config{Synthesizer: engine}, b, func(context.Context, *agentstest.Phone) {})
	expectLines(t, r, "agent: "+long)
	if longest.Load() > tts.MaxText {
		t.Errorf("a synthesizer got %d bytes", longest.Load())
	}
}

// TestSpeaksForLong checks that an answer may last longer than Config.Patience.
func TestSpeaksForLong(t *testing.T) {
	t.Parallel()
	sentence := "we are open from nine to five on every day but sunday."
	texts := slices.Repeat([]string{sentence}, 20) // each sentence lasts three seconds
	b := &brain{answer: func(conversation.Turn) []conversation.Step {
		return append(say(texts...), conversation.End{Reason: "done"})
	}}
	r := run(t, conversation.Config{}, b, func(context.Context, *agentstest.Phone) {})
	must(t, r.err)
	expectLines(t, r, "agent: "+strings.Join(texts, " "))
}

// TestRambling checks that an endless turn ends after twice Config.MaxTurn, and after Config.MaxTurn at a pause.
func TestRambling(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		say         string
		pause       int // samples after 40 letters
		least, most int // letters
	}{
		"without a pause": {strings.Repeat("bla", 30), 0, 60, 69},
		"with a pause":    {strings.Repeat("bla", 30), 8 * 320, 40, 40},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := parrot(2)
			c := conversation.Config{MaxTurn: 2 * time.Second, Activity: func(int) conversation.Activity { return gullible{} }}
			r := run(t, c, b, func(ctx context.Context, p *agentstest.Phone) {
				must(t, p.WaitHeard(ctx, "start"))
				must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
				p.Play(slices.Concat(agentstest.Voice(test.say[:40], 8000), make([]int16, test.pause), agentstest.Voice(test.say[40:], 8000)))
			})
			if len(b.asked()) < 2 || len(b.asked()[1].Text) < test.least || len(b.asked()[1].Text) > test.most {
				t.Errorf("turns %+v, outcome %+v", b.asked(), r.outcome)
			}
		})
	}
}

// TestTalksOn checks that a caller who never stops is answered after MaxTurn, although the recognizer is slower than each of the caller's pauses.
func TestTalksOn(t *testing.T) {
	t.Parallel()
	b := parrot(2)
	c := conversation.Config{MaxTurn: 2 * time.Second, Recognizer: &agentstest.Recognizer{Delay: time.Second}}
	run(t, c, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "start"))
		must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
		for range 10 {
			p.Play(append(agentstest.Voice("one two three four", 8000), make([]int16, 8*360)...))
		}
	})
	if turns := b.asked(); len(turns) < 2 || strings.Count(turns[1].Text, "one") > 4 {
		t.Errorf("turns %+v", turns)
	}
}

// TestNoise checks that a short noise without words is no turn, that a long noise is a turn without words, and that a noise while the agent
// speaks only holds its answer.
func TestNoise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		during bool
		millis int
		want   []conversation.TurnKind
	}{
		"short":    {false, 150, []conversation.TurnKind{"start", "silence"}},
		"long":     {false, 900, []conversation.TurnKind{"start", "speech"}},
		"breaking": {true, 400, []conversation.TurnKind{"start", "silence"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := parrot(2)
			run(t, conversation.Config{Silence: 3 * time.Second, EchoGuard: time.Millisecond}, b, func(ctx context.Context, p *agentstest.Phone) {
				if !c.during {
					must(t, p.WaitHeard(ctx, "start"))
					must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
				}
				p.Play(buzz(time.Duration(c.millis) * time.Millisecond))
			})
			var kinds []conversation.TurnKind
			for _, turn := range b.asked() {
				kinds = append(kinds, turn.Kind)
				if turn.Text != "" {
					t.Errorf("the brain was told %q", turn.Text)
				}
			}
			if !slices.Equal(kinds, c.want) {
				t.Errorf("turns %v, want %v", kinds, c.want)
			}
		})
	}
}
