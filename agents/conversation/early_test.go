package conversation_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
)

// eager is an EarlyBrain. It answers like a parrot after a delay, and records which turns were early, and which of these were withdrawn.
type eager struct {
	delay     time.Duration
	unable    bool                                     // AnswersEarly reports false
	careless  bool                                     // never calls Commit
	effects   func(yield func(conversation.Step) bool) // after the words
	mu        sync.Mutex
	turns     []conversation.Turn
	certain   []conversation.Turn
	withdrawn int
}

func (b *eager) AnswersEarly() bool { return !b.unable }

func (b *eager) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		b.mu.Lock()
		b.turns = append(b.turns, t)
		b.mu.Unlock()
		defer func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			if t.Withdraw() {
				b.withdrawn++
				return
			}
			b.certain = append(b.certain, t)
		}()
		if t.Kind == conversation.TurnSilence {
			yield(conversation.End{}, nil)
			return
		}
		select {
		case <-time.After(b.delay):
		case <-ctx.Done():
			return
		}
		if !yield(conversation.Say{Text: strings.TrimSpace(string(t.Kind) + " " + t.Text)}, nil) {
			return
		}
		if !b.careless && t.Commit(ctx) != nil {
			return
		}
		if b.effects != nil && t.Kind == conversation.TurnSpeech {
			b.effects(func(s conversation.Step) bool { return yield(s, nil) })
		}
	}
}

// texts returns the texts of the caller's turns.
func texts(turns []conversation.Turn) (out []string) {
	for _, t := range turns {
		if t.Kind == conversation.TurnSpeech {
			out = append(out, t.Text)
		}
	}
	return out
}

// afterStart runs a conversation in which the caller speaks after the agent's first sentence.
func afterStart(t *testing.T, c conversation.Config, b conversation.Brain, speech []int16) result {
	t.Helper()
	c.Turns = endpoint.Rules{}
	c.Silence = 4 * time.Second
	return run(t, c, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "start"))
		must(t, p.WaitQuiet(ctx, 500*time.Millisecond))
		p.Play(speech)
	})
}

// TestEarlyAnswer checks that an answer is prepared before the turn is over, sounds when it is over, and saves the time of the brain.
func TestEarlyAnswer(t *testing.T) {
	t.Parallel()
	for name, careless := range map[string]bool{"committed": false, "without Commit": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &eager{delay: 350 * time.Millisecond, careless: careless}
			c := conversation.Config{Recognizer: streams(), Synthesizer: &agentstest.Synthesizer{Delay: 150 * time.Millisecond}}
			r := afterStart(t, c, b, spoken(0, "when do you open"))
			expectLines(t, r, "agent: start", "caller: when do you open", "agent: speech when do you open")
			if got := texts(b.turns); !slices.Equal(got, []string{"when do you open"}) || b.turns[1].Early == nil || b.withdrawn > 0 {
				t.Errorf("turns %+v", b.turns)
			}
			answer := r.entries[2]
			if len(answer.Begun) != 1 || !answer.Begun[0].Used || answer.Latency.Playing > 800*time.Millisecond || answer.Turn != 1 ||
				answer.Latency.EndOfTurn < 600*time.Millisecond || answer.Start < r.entries[1].End+answer.Latency.EndOfTurn-20*time.Millisecond {
				t.Errorf("answer %+v", answer)
			}
		})
	}
}

// TestWithdrawnAnswer checks that an answer to a turn that continues never sounds, has no effect, and is not told to the brain.
func TestWithdrawnAnswer(t *testing.T) {
	t.Parallel()
	for name, engine := range map[string]conversation.Recognizer{"batch": &agentstest.Recognizer{}, "streaming": streams()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &eager{delay: 10 * time.Millisecond, effects: func(yield func(conversation.Step) bool) {
				_ = yield(conversation.Press{Digits: "5"}) && yield(conversation.End{Reason: "done"})
			}}
			r := afterStart(t, conversation.Config{Recognizer: engine}, b, spoken(560*time.Millisecond, "book a table", "two people", "right now"))
			const all = "book a table two people right now"
			expectLines(t, r, "agent: start", "caller: "+all, "agent: speech "+all, "agent pressed: •")
			if r.phone.Heard() != "startspeech "+all || r.phone.Pressed() != "5" || r.outcome.Reason != "done" {
				t.Errorf("heard %q, pressed %q, outcome %+v", r.phone.Heard(), r.phone.Pressed(), r.outcome)
			}
			if got := texts(b.certain); !slices.Equal(got, []string{all}) || b.withdrawn != 2 {
				t.Errorf("certain turns %q, %d withdrawn", got, b.withdrawn)
			}
			begun := r.entries[2].Begun
			if len(begun) != 3 || begun[0].Why != conversation.BegunContinued || begun[1].Used || !begun[2].Used || begun[2].At < begun[1].At {
				t.Errorf("begun %+v", begun)
			}
		})
	}
}

// TestRevisedAnswer checks that an answer to words which the recognizer then changes is replaced.
func TestRevisedAnswer(t *testing.T) {
	t.Parallel()
	b, engine := &eager{}, streams()
	engine.Delay = 300 * time.Millisecond
	engine.Alter = func(h conversation.Heard) []conversation.Heard {
		if h.Final {
			h.Text = strings.ReplaceAll(h.Text, "nine", "five")
		}
		return []conversation.Heard{h}
	}
	r := afterStart(t, conversation.Config{Recognizer: engine}, b, spoken(0, "do you open at nine"))
	expectLines(t, r, "agent: start", "caller: do you open at five", "agent: speech do you open at five")
	if begun := r.entries[2].Begun; len(begun) != 2 || begun[0].Why != conversation.BegunRevised || !begun[1].Used || b.withdrawn != 1 ||
		strings.Contains(r.phone.Heard(), "nine") {
		t.Errorf("begun %+v, %d withdrawn, heard %q", begun, b.withdrawn, r.phone.Heard())
	}
}

// TestExpectationOfWithdrawnAnswer checks that the Expect step of an early answer does not change the recognition of the turn that continues.
func TestExpectationOfWithdrawnAnswer(t *testing.T) {
	t.Parallel()
	engine := streams()
	var hearings []string
	engine.Hear = func(h conversation.Hearing) { hearings = append(hearings, strings.Join(h.Phrases, ",")) }
	b := &eager{}
	run(t, conversation.Config{Recognizer: engine, Turns: endpoint.Rules{}, Silence: 3 * time.Second}, expecting{b}, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "start"))
		must(t, p.WaitQuiet(ctx, 500*time.Millisecond))
		p.Play(spoken(560*time.Millisecond, "book a table", "two people"))
		must(t, p.WaitHeard(ctx, "two people"))
		must(t, p.WaitQuiet(ctx, 500*time.Millisecond))
		p.Say("hello")
	})
	if want := []string{"", "after ", "after book a table two people"}; !slices.Equal(hearings, want) || b.withdrawn != 1 {
		t.Errorf("the recognizer was told %q, want %q; %d withdrawn", hearings, want, b.withdrawn)
	}
}

// expecting adds an Expect step to every answer.
type expecting struct{ *eager }

func (b expecting) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		if yield(conversation.Expect{Phrases: []string{"after " + t.Text}}, nil) {
			b.eager.Respond(ctx, t)(yield)
		}
	}
}

// TestAtMostThreeBegun checks that a caller who pauses often causes at most three early answers.
func TestAtMostThreeBegun(t *testing.T) {
	t.Parallel()
	b := &eager{}
	parts := strings.Fields("table chair window door garden house street")
	r := afterStart(t, conversation.Config{Recognizer: streams()}, b, spoken(560*time.Millisecond, parts...))
	all := strings.Join(parts, " ")
	expectLines(t, r, "agent: start", "caller: "+all, "agent: speech "+all)
	if begun := r.entries[2].Begun; len(begun) != 3 || begun[2].Used || len(texts(b.turns)) != 4 || b.turns[4].Early != nil {
		t.Errorf("begun %+v, turns %+v", begun, b.turns)
	}
}

// TestEarlyAndUnable checks that a brain which cannot answer early receives only certain turns.
func TestEarlyAndUnable(t *testing.T) {
	t.Parallel()
	b := &eager{unable: true}
	r := afterStart(t, conversation.Config{Recognizer: streams()}, b, spoken(560*time.Millisecond, "book a table", "two people"))
	expectLines(t, r, "agent: start", "caller: book a table two people", "agent: speech book a table two people")
	if got := texts(b.turns); len(got) != 1 || b.turns[1].Early != nil || len(r.entries[2].Begun) != 0 {
		t.Errorf("turns %+v, begun %+v", b.turns, r.entries[2].Begun)
	}
}

// TestEarlyAfterInterruption checks that every try of a turn is told what was heard of the interrupted answer.
func TestEarlyAfterInterruption(t *testing.T) {
	t.Parallel()
	b := &eager{}
	r := run(t, conversation.Config{Recognizer: streams(), Turns: endpoint.Rules{}, Silence: 4 * time.Second}, &longStart{b}, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitElapsed(ctx, 2*time.Second))
		p.Play(spoken(560*time.Millisecond, "no please stop it", "that is enough"))
	})
	tries := 0
	for _, turn := range b.turns {
		if turn.Kind != conversation.TurnSpeech {
			continue
		}
		tries++
		if !turn.Interrupted || turn.Heard == "" || !strings.HasPrefix(reading, turn.Heard) {
			t.Errorf("turn %+v", turn)
		}
	}
	if tries < 2 || b.withdrawn != tries-1 {
		t.Errorf("turns %+v, transcript %q", b.turns, r.lines)
	}
}

// longStart is an EarlyBrain whose first sentence is long.
type longStart struct{ *eager }

func (b *longStart) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	if t.Kind == conversation.TurnStart {
		return func(yield func(conversation.Step, error) bool) { yield(conversation.Say{Text: reading}, nil) }
	}
	return b.eager.Respond(ctx, t)
}

// TestEarlyAndStubborn checks that a brain which ignores its context is never heard with a withdrawn answer.
func TestEarlyAndStubborn(t *testing.T) {
	t.Parallel()
	b := &eager{effects: func(func(conversation.Step) bool) { <-time.After(time.Second) }, careless: true}
	r := afterStart(t, conversation.Config{Recognizer: streams()}, b, spoken(560*time.Millisecond, "book a table", "two people"))
	expectLines(t, r, "agent: start", "caller: book a table two people", "agent: speech book a table two people")
	if r.phone.Heard() != "startspeech book a table two people" {
		t.Errorf("heard %q", r.phone.Heard())
	}
}

// TestEarlyAndHangup checks that the transcript contains the words of a caller who hangs up, and no withdrawn answer, whenever that happens.
func TestEarlyAndHangup(t *testing.T) {
	t.Parallel()
	for at := 1600 * time.Millisecond; at < 3500*time.Millisecond; at += 100 * time.Millisecond {
		b := &eager{delay: 50 * time.Millisecond}
		r := run(t, conversation.Config{Recognizer: streams(), Turns: endpoint.Rules{}}, b, func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitElapsed(ctx, time.Second))
			p.Say("i like it")
			must(t, p.WaitElapsed(ctx, at))
			p.Hangup()
		})
		all := strings.Join(r.lines, "\n")
		if strings.Count(all, "caller: i like it") != 1 || strings.Contains(all, "agent: speech") && !strings.Contains(r.phone.Heard(), "speech") {
			t.Errorf("%s: transcript %q, heard %q", at, r.lines, r.phone.Heard())
		}
	}
}
