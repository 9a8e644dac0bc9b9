package conversation_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/sounds"
)

// reading is a text of 8 s, with words of at most 5 letters.
const reading = "we are open from nine to five on every day but sunday and on some days also from seven to eight in the evening but never on a " +
	"day."

// readsAloud returns a brain that first reads a text to the caller. It ends the conversation at "bye" or after silence, and answers all
// other turns with "yes?".
func readsAloud() *brain {
	return &brain{answer: func(turn conversation.Turn) []conversation.Step {
		switch {
		case turn.Kind == conversation.TurnStart:
			return say(reading)
		case turn.Text == "bye", turn.Kind == conversation.TurnSilence:
			return []conversation.Step{conversation.End{}}
		default:
			return say("yes?")
		}
	}}
}

// overReading runs a conversation in which the caller acts 2 s after the agent has begun to read.
func overReading(t *testing.T, c conversation.Config, b conversation.Brain, act callerFunc) result {
	t.Helper()
	return run(t, c, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, 2*time.Second))
		act(ctx, p)
	})
}

// buzz returns a noise in which the recognizer understands no words.
func buzz(d time.Duration) []int16 {
	sound := sounds.Tones(-20, 300, 450, 700)
	out := make([]int16, int(d.Milliseconds())*8)
	for i := range out {
		out[i] = sounds.Clip(sound(i))
	}
	return out
}

// checkReadOnce checks that the phone heard the whole text once, except that at most repeats times up to 400 ms were repeated, and that the
// brain was not told about any interruption.
func checkReadOnce(t *testing.T, r result, b *brain, repeats int) {
	t.Helper()
	checkRepeats(t, reading, r.phone.Heard(), repeats)
	for _, turn := range b.asked() {
		if turn.Interrupted || turn.Kind == conversation.TurnSpeech {
			t.Errorf("the brain was asked %+v", turn)
		}
	}
	if e := r.entries[0]; e.Text != reading || e.Interrupted {
		t.Errorf("the transcript is %q", r.lines)
	}
}

// checkRepeats checks that heard is text, except that up to 7 letters were repeated at most repeats times.
func checkRepeats(t *testing.T, text, heard string, repeats int) {
	t.Helper()
	at := 0
	for i := range len(heard) {
		if at < len(text) && heard[i] == text[at] {
			at++
			continue
		}
		back := 0
		for n := 7; n > 0 && back == 0; n-- {
			if at >= n && text[at-n] == heard[i] && strings.HasPrefix(heard[i:], text[at-n:at]) {
				back = n
			}
		}
		if repeats--; back == 0 || repeats < 0 {
			t.Fatalf("of %q the phone heard %q, which differs at %d", text, heard, i)
		}
		at += 1 - back
	}
	if at != len(text) {
		t.Errorf("of %q the phone heard only %q", text, heard)
	}
}

// TestHolds checks that sounds and words that are no interruption hold the answer, which then continues at the held word.
func TestHolds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		say     string        // spoken by the caller, or a noise if empty
		delay   time.Duration // of the recognizer
		why     conversation.HoldReason
		longest time.Duration // maximum duration of the hold, which begins 200 ms after the first voice
	}{
		"a back-channel":                      {"uh huh", 0, conversation.HoldBackChannel, 640 * time.Millisecond},
		"a back-channel, slowly recognized":   {"uh huh okay", time.Second, conversation.HoldBackChannel, 2000 * time.Millisecond},
		"a filler":                            {"ummmm", 0, conversation.HoldFiller, 640 * time.Millisecond},
		"a cough":                             {"", 0, conversation.HoldNoise, 620 * time.Millisecond},
		"a cough, slowly recognized":          {"", time.Second, conversation.HoldTimeout, 820 * time.Millisecond},
		"a back-channel, recognized too late": {"okay i see", 9 * time.Second, conversation.HoldTimeout, 3200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := readsAloud()
			r := overReading(t, conversation.Config{Recognizer: &agentstest.Recognizer{Delay: c.delay}}, b, func(_ context.Context, p *agentstest.Phone) {
				if c.say == "" {
					p.Play(buzz(280 * time.Millisecond))
					return
				}
				p.Say(c.say)
			})
			checkReadOnce(t, r, b, 1)
			holds := r.entries[0].Holds
			if len(holds) != 1 || holds[0].Why != c.why || holds[0].Length > c.longest || holds[0].Start < 2180*time.Millisecond ||
				holds[0].Start > 2260*time.Millisecond {
				t.Errorf("holds %+v", holds)
			}
			want := []string{"agent: " + reading}
			if c.say != "" {
				want = append(want, "caller: "+c.say)
			}
			expectLines(t, r, want...)
		})
	}
}

// TestCuts checks that words over an answer are the caller's turn, and that the answer never sounds again.
func TestCuts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act   func(ctx context.Context, p *agentstest.Phone)
		delay time.Duration // of the recognizer
		turn  string
		after time.Duration // latest time of the call at which the brain's answer begins
	}{
		"words": {
			func(_ context.Context, p *agentstest.Phone) { p.Say("what") }, 0, "what", 2840 * time.Millisecond,
		},
		"a long sentence": {
			func(_ context.Context, p *agentstest.Phone) { p.Say("but i have a question about it") }, 0,
			"but i have a question about it", 4400 * time.Millisecond,
		},
		"words that are recognized after the agent has continued": {
			func(_ context.Context, p *agentstest.Phone) { p.Say("stop it") }, 3 * time.Second, "stop it", 6100 * time.Millisecond,
		},
		"words after a cough": {
			func(_ context.Context, p *agentstest.Phone) {
				p.Play(append(buzz(280*time.Millisecond), make([]int16, 8*600)...))
				p.Say("what is it")
			}, 500 * time.Millisecond, "what is it", 5 * time.Second,
		},
		"words after words": {
			func(_ context.Context, p *agentstest.Phone) {
				p.Say("wait ")
				p.Play(make([]int16, 8*800))
				p.Say("what is it")
			}, time.Second, "wait what is it", 5500 * time.Millisecond,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := readsAloud()
			r := overReading(t, conversation.Config{Recognizer: &agentstest.Recognizer{Delay: c.delay}}, b, func(ctx context.Context, p *agentstest.Phone) {
				c.act(ctx, p)
				must(t, p.WaitHeard(ctx, "yes?"))
				must(t, p.WaitQuiet(ctx, 2*time.Second))
				p.Say("bye")
			})
			turns := b.asked()
			if len(turns) != 3 || turns[1].Text != c.turn || !turns[1].Interrupted || !strings.HasPrefix(reading, turns[1].Heard) {
				t.Fatalf("turns %+v, transcript %q", turns, r.lines)
			}
			heard := r.phone.Heard()
			cut, _, _ := strings.Cut(heard, "yes?")
			if len(cut) > 120 || strings.Count(heard, "yes?") != 1 || !strings.HasSuffix(heard, "yes?") {
				t.Errorf("the phone heard %q", heard)
			}
			for _, e := range r.entries {
				if e.Text == "yes?" && e.Start > c.after {
					t.Errorf("the answer begins at %s", e.Start)
				}
			}
			holds := r.entries[0].Holds
			if len(holds) == 0 || !r.entries[0].Interrupted {
				t.Errorf("entry %+v", r.entries[0])
			}
		})
	}
}

// TestHeldReply checks that an acknowledgement in the last second of an answer is the caller's turn.
func TestHeldReply(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"is that all right with you?", "i will call you on monday."} {
		b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
			if turn.Kind == conversation.TurnStart {
				return say(text)
			}
			return append(say("good."), conversation.End{})
		}}
		r := run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitHeard(ctx, text[:len(text)-8]))
			p.Say("okay")
		})
		if turns := b.asked(); len(turns) != 2 || turns[1].Text != "okay" || r.phone.Elapsed() > 5*time.Second {
			t.Errorf("turns %+v, transcript %q", turns, r.lines)
		}
	}
}

// TestHoldWhileLastWordsDrain checks that the last words of an answer are held and said again, before the digits and the end that follow
// them.
func TestHoldWhileLastWordsDrain(t *testing.T) {
	t.Parallel()
	for early := 500 * time.Millisecond; early >= 0; early -= 20 * time.Millisecond {
		b := &brain{answer: func(conversation.Turn) []conversation.Step {
			return append(say("it is nine."), conversation.Press{Digits: "1"}, conversation.End{})
		}}
		r := run(t, conversation.Config{Interruption: 100 * time.Millisecond, EchoGuard: time.Millisecond}, b,
			func(ctx context.Context, p *agentstest.Phone) {
				must(t, p.WaitElapsed(ctx, 660*time.Millisecond-early))
				p.Play(buzz(140 * time.Millisecond))
			})
		checkRepeats(t, "it is nine.", r.phone.Heard(), 1)
		if r.err != nil || r.phone.Pressed() != "1" || r.outcome.By != conversation.ByAgent {
			t.Errorf("%s before the end: pressed %q, outcome %+v, %v", early, r.phone.Pressed(), r.outcome, r.err)
		}
	}
}

// TestHoldBetweenSentences checks that words which were queued at the hold are said although the brain has not returned the next sentence.
func TestHoldBetweenSentences(t *testing.T) {
	t.Parallel()
	b := &brain{delay: 3 * time.Second, answer: func(turn conversation.Turn) []conversation.Step {
		if turn.Kind == conversation.TurnStart {
			return say("it is nine now.", "and so on.")
		}
		return []conversation.Step{conversation.End{}}
	}}
	r := run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "it is"))
		p.Play(buzz(280 * time.Millisecond))
		must(t, p.WaitHeard(ctx, "now."))
		if p.Elapsed() > 5500*time.Millisecond {
			t.Errorf("the first sentence ends at %s", p.Elapsed())
		}
	})
	checkRepeats(t, "it is nine now.and so on.", r.phone.Heard(), 1)
}

// TestAcknowledgementWhileThinking checks that a noise or an acknowledgement before the answer to the caller's words is audible does not
// lose the answer.
func TestAcknowledgementWhileThinking(t *testing.T) {
	t.Parallel()
	for name, sound := range map[string][]int16{
		"a back-channel": agentstest.Voice("uh huh", 8000), "a cough": buzz(280 * time.Millisecond),
	} {
		for step, c := range map[string]struct{ recognizer, brain time.Duration }{
			"the recognizer works": {1500 * time.Millisecond, 0}, "the brain thinks": {0, time.Second},
		} {
			t.Run(name+", "+step, func(t *testing.T) {
				t.Parallel()
				b := &brain{delay: c.brain, answer: func(turn conversation.Turn) []conversation.Step {
					if turn.Kind == conversation.TurnStart {
						return nil
					}
					return append(say("at nine."), conversation.End{})
				}}
				r := run(t, conversation.Config{Recognizer: &agentstest.Recognizer{Delay: c.recognizer}}, b, func(ctx context.Context, p *agentstest.Phone) {
					must(t, p.WaitElapsed(ctx, 500*time.Millisecond))
					p.Say("when do you open")
					p.Play(make([]int16, 8*700))
					p.Play(sound)
				})
				text := "when do you open"
				want := []string{"caller: when do you open", "caller: uh huh", "agent: at nine."}
				switch {
				case name == "a cough":
					want = slices.Delete(want, 1, 2)
				case c.recognizer > 0: // the turn is not over before its words are known
					text += " uh huh"
					want = []string{"caller: when do you open uh huh", "agent: at nine."}
				}
				turns := b.asked()
				if len(turns) != 2 || turns[1].Text != text || r.phone.Heard() != "at nine." {
					t.Errorf("turns %+v, heard %q, transcript %q", turns, r.phone.Heard(), r.lines)
				}
				expectLines(t, r, want...)
			})
		}
	}
}

// TestFirstWordsOfCaller checks that "yes" before the first sentence is the caller's turn, because the agent has said nothing to acknowledge.
func TestFirstWordsOfCaller(t *testing.T) {
	t.Parallel()
	b := parrot(2)
	b.delay = 2 * time.Second
	r := run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, 300*time.Millisecond))
		p.Say("okay yes")
	})
	expectLines(t, r, "caller: okay yes", "agent: speech okay yes")
}

// TestHoldAndDigit checks that a digit cuts a held answer.
func TestHoldAndDigit(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{
		"while the caller speaks": 2300 * time.Millisecond, "while the words are judged": 3100 * time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := readsAloud()
			r := overReading(t, conversation.Config{Recognizer: &agentstest.Recognizer{Delay: time.Second}}, b, func(ctx context.Context, p *agentstest.Phone) {
				p.Say("uh huh")
				must(t, p.WaitElapsed(ctx, after))
				p.Press("5#")
				must(t, p.WaitHeard(ctx, "yes?"))
			})
			turns := b.asked()
			if len(turns) < 2 || turns[1].Kind != conversation.TurnDigits || turns[1].Text != "5" || !turns[1].Interrupted {
				t.Errorf("turns %+v, transcript %q", turns, r.lines)
			}
			if said := strings.Join(r.lines, "\n"); after > 3*time.Second && !strings.Contains(said, "caller: uh huh") {
				t.Errorf("the transcript is %q", r.lines)
			}
		})
	}
}

// TestHoldAndFailure checks that overlapping words whose recognition fails interrupt the agent, so that its brain asks the caller to repeat
// them.
func TestHoldAndFailure(t *testing.T) {
	t.Parallel()
	b := readsAloud()
	engine := &agentstest.Recognizer{Fail: func(text string) error {
		if text == "what" {
			return errEngine
		}
		return nil
	}}
	overReading(t, conversation.Config{Recognizer: engine}, b, func(ctx context.Context, p *agentstest.Phone) {
		p.Say("what")
		must(t, p.WaitHeard(ctx, "yes?"))
		must(t, p.WaitQuiet(ctx, time.Second))
		p.Say("bye")
	})
	if turns := b.asked(); len(turns) != 3 || turns[1].Text != "" || !turns[1].Interrupted || turns[2].Text != "bye" {
		t.Errorf("turns %+v", turns)
	}
}

// TestHoldAndHangup checks that the transcript contains the words of a caller who hangs up while they are judged.
func TestHoldAndHangup(t *testing.T) {
	t.Parallel()
	r := overReading(t, conversation.Config{Recognizer: &agentstest.Recognizer{Delay: time.Second}}, readsAloud(), func(ctx context.Context, p *agentstest.Phone) {
		p.Say("i see")
		must(t, p.WaitElapsed(ctx, 3*time.Second))
		p.Hangup()
	})
	if len(r.lines) != 2 || r.lines[1] != "caller: i see" || !strings.HasPrefix(reading, r.entries[0].Text) {
		t.Errorf("transcript %q", r.lines)
	}
}

// TestNoisyRoom checks that an answer comes to its end although noises hold it again and again.
func TestNoisyRoom(t *testing.T) {
	t.Parallel()
	b := readsAloud()
	r := run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
		for range 8 {
			p.Play(append(buzz(300*time.Millisecond), make([]int16, 8*900)...))
			must(t, p.WaitElapsed(ctx, p.Elapsed()+1200*time.Millisecond))
		}
	})
	checkReadOnce(t, r, b, 3)
	if holds := r.entries[0].Holds; len(holds) != 3 {
		t.Errorf("holds %+v", holds)
	}
}
