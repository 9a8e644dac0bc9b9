package conversation_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// brain is a conversation.Brain that answers with the steps of a function, and records its turns.
type brain struct {
	answer func(t conversation.Turn) []conversation.Step
	delay  time.Duration // time before each step
	mu     sync.Mutex
	turns  []conversation.Turn
	err    error // returned after the steps, unless nil
}

func (b *brain) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		b.mu.Lock()
		b.turns = append(b.turns, t)
		b.mu.Unlock()
		for _, s := range b.answer(t) {
			select {
			case <-time.After(b.delay):
			case <-ctx.Done():
				return
			}
			if !yield(s, nil) {
				return
			}
		}
		if b.err != nil {
			yield(nil, b.err)
		}
	}
}

func (b *brain) asked() []conversation.Turn {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]conversation.Turn(nil), b.turns...)
}

// stubborn is a brain whose stream ends two seconds after its consumer has stopped.
type stubborn struct{ *brain }

func (b stubborn) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		for s, err := range b.brain.Respond(ctx, t) {
			if !yield(s, err) {
				time.Sleep(2 * time.Second)
				return
			}
		}
	}
}

// notebook is an Observer that records the transcript.
type notebook struct {
	mu       sync.Mutex
	entries  []conversation.Entry
	partials []conversation.Partial
	spoken   []conversation.Entry // since the last entry of the agent
	reports  []conversation.Entry // all
	shown    conversation.Partial // partial text that nothing has replaced
	changed  time.Time            // time of the last partial text
	busy     atomic.Bool          // whether the observer is called
}

func (n *notebook) Partial(p conversation.Partial) {
	if !n.busy.CompareAndSwap(false, true) {
		panic("concurrent calls of an observer")
	}
	defer n.busy.Store(false)
	if p.Text == "" && n.shown.Text == "" {
		panic("a text is withdrawn that is not shown")
	}
	n.partials, n.shown, n.changed = append(n.partials, p), p, time.Now()
}

func (n *notebook) Spoken(e conversation.Entry) {
	if !n.busy.CompareAndSwap(false, true) {
		panic("concurrent calls of an observer")
	}
	defer n.busy.Store(false)
	n.spoken, n.reports = append(n.spoken, e), append(n.reports, e)
}

func (n *notebook) Entry(e conversation.Entry) {
	if !n.busy.CompareAndSwap(false, true) {
		panic("concurrent calls of an observer")
	}
	defer n.busy.Store(false)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.entries = append(n.entries, e)
	if e.Role == conversation.RoleAgent && !e.Digits {
		for _, s := range n.spoken {
			if s.Start != e.Start || s.End > e.End || s.Role != e.Role || s.Text == "" {
				panic(fmt.Sprintf("%+v was reported of %+v", s, e))
			}
		}
		n.spoken = nil
	}
	if e.Role == conversation.RoleCaller && e.Turn >= n.shown.Turn {
		n.shown = conversation.Partial{}
	}
}

func TestObserver(t *testing.T) {
	t.Parallel()
	agentstest.RunObserver(t, agentstest.ObserverHarness{New: func(*testing.T) (conversation.Observer, func() []string) {
		n := &notebook{}
		return n, func() (texts []string) {
			n.mu.Lock()
			defer n.mu.Unlock()
			for _, e := range n.entries {
				texts = append(texts, e.Text)
			}
			return texts
		}
	}})
}

func (n *notebook) lines() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []string
	for _, e := range n.entries {
		line := string(e.Role) + ": " + e.Text
		if e.Digits {
			line = string(e.Role) + " pressed: " + e.Text
		}
		if e.Interrupted {
			line += " [interrupted]"
		}
		if e.Unrecognized != "" {
			line += " [" + string(e.Unrecognized) + "]"
		}
		out = append(out, line)
	}
	return out
}

// fixed is a TurnDetector that ends a turn with known words after Config.EndOfTurn.
type fixed struct{}

func (fixed) Judge(e endpoint.Evidence) endpoint.Wait {
	if !e.Known {
		return endpoint.Wait{Likely: e.Longest, Final: e.Longest}
	}
	return endpoint.Wait{Likely: e.Least, Final: e.Least}
}

// run runs a conversation with a caller under a fake clock, for at most five minutes. The caller's function may hang up, or return and let
// the conversation end by itself.
func run(t *testing.T, c conversation.Config, b conversation.Brain, caller callerFunc) result {
	t.Helper()
	return runOn(t, c, b, caller, func(l *agentstest.Leg) conversation.Audio { return l })
}

// runFor is run with another time limit.
func runFor(t *testing.T, c conversation.Config, b conversation.Brain, limit time.Duration, caller callerFunc) result {
	t.Helper()
	return runBoth(t, c, b, limit, caller, func(l *agentstest.Leg) conversation.Audio { return l })
}

type callerFunc func(ctx context.Context, p *agentstest.Phone)

// runOn is run with audio that wraps the call's audio.
func runOn(t *testing.T, c conversation.Config, b conversation.Brain, caller callerFunc,
	audio func(*agentstest.Leg) conversation.Audio,
) result {
	t.Helper()
	return runBoth(t, c, b, 5*time.Minute, caller, audio)
}

func runBoth(t *testing.T, c conversation.Config, b conversation.Brain, limit time.Duration, caller callerFunc,
	audio func(*agentstest.Leg) conversation.Audio,
) result {
	t.Helper()
	return runWith(t, agentstest.PhoneConfig{}, c, b, limit, caller, audio)
}

// runWith is runBoth with a phone that has the given configuration.
func runWith(t *testing.T, phone agentstest.PhoneConfig, c conversation.Config, b conversation.Brain, limit time.Duration, caller callerFunc,
	audio func(*agentstest.Leg) conversation.Audio,
) result {
	t.Helper()
	var r result
	synctest.Test(t, func(t *testing.T) {
		if c.Recognizer == nil {
			c.Recognizer = &agentstest.Recognizer{}
		}
		if c.Synthesizer == nil {
			c.Synthesizer = &agentstest.Synthesizer{}
		}
		if c.Turns == nil {
			c.Turns, c.EndOfTurn = fixed{}, cmp.Or(c.EndOfTurn, 500*time.Millisecond)
		}
		notes := &notebook{}
		c.Observer = notes
		conv, err := conversation.New(c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		r.phone = agentstest.NewPhone(phone)
		var wait sync.WaitGroup
		wait.Go(func() { caller(ctx, r.phone) })
		began := time.Now()
		r.outcome, r.err = conv.Run(ctx, audio(r.phone.Leg()), b)
		r.took, r.shown = time.Since(began), notes.changed.Sub(began)
		r.phone.Hangup()
		wait.Wait()
		if notes.shown.Text != "" {
			t.Errorf("the partial text %+v remains", notes.shown)
		}
		if len(notes.spoken) > 0 {
			t.Errorf("no entry follows %+v", notes.spoken)
		}
		r.reports = notes.reports
		r.lines, r.entries, r.partials = notes.lines(), notes.entries, notes.partials
	})
	return r
}

type result struct {
	outcome conversation.Outcome
	err     error
	took    time.Duration // duration of Run
	phone   *agentstest.Phone
	lines   []string
	entries []conversation.Entry

	partials []conversation.Partial
	reports  []conversation.Entry // what a SpeechObserver receives
	shown    time.Duration        // time from the beginning of Run to the last partial text
}

func say(texts ...string) []conversation.Step {
	var out []conversation.Step
	for _, t := range texts {
		out = append(out, conversation.Say{Text: t})
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func expectLines(t *testing.T, r result, want ...string) {
	t.Helper()
	if got := strings.Join(r.lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("transcript:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

func TestDialogue(t *testing.T) {
	t.Parallel()
	b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
		switch {
		case turn.Kind == conversation.TurnStart:
			return say("Hello.", "Monday or Tuesday?")
		case strings.Contains(turn.Text, "monday"):
			return append(say("Noted. Goodbye."), conversation.End{Reason: "done"})
		default:
			return say("Which day?")
		}
	}}
	r := run(t, conversation.Config{}, b, func(ctx context.Context, p *agentstest.Phone) {
		must(t, p.WaitHeard(ctx, "Tuesday?"))
		must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
		p.Say("what did you say")
		must(t, p.WaitHeard(ctx, "Which day?"))
		must(t, p.WaitQuiet(ctx, 300*time.Millisecond))
		p.Say("on monday")
	})
	if r.err != nil || r.outcome.By != conversation.ByAgent || r.outcome.Reason != "done" {
		t.Errorf("outcome %+v, %v", r.outcome, r.err)
	}
	expectLines(t, r, "agent: Hello. Monday or Tuesday?", "caller: what did you say", "agent: Which day?",
		"caller: on monday", "agent: Noted. Goodbye.")
	if got := r.phone.Heard(); got != "Hello.Monday or Tuesday?Which day?Noted. Goodbye." {
		t.Errorf("heard %q", got)
	}
	for i, e := range r.entries {
		if i > 0 && e.Start < r.entries[i-1].End || e.End <= e.Start {
			t.Errorf("entry %d lasts from %s to %s, after one to %s", i, e.Start, e.End, r.entries[max(0, i-1)].End)
		}
	}
	answer := r.entries[2].Latency
	if answer.EndOfTurn != 500*time.Millisecond || answer.Playing < answer.EndOfTurn ||
		answer.Playing > answer.EndOfTurn+40*time.Millisecond || len(r.outcome.Answers) != 2 || r.outcome.Answers[0] != answer {
		t.Errorf("the latency is %+v, the outcome's %+v", answer, r.outcome.Answers)
	}
}
