package conversation_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/speech/tts"
)

// The characters of these tests are unique in a call, so that a test can identify each piece of audio. Answer n consists of the characters
// from agentRunes+answerRunes*n, and phrase n of the caller of the characters from callerRunes+phraseRunes*n.
const (
	agentRunes  = 0x3400
	answerRunes = 128
	callerRunes = 0x6800
	phraseRunes = 32
)

// coded returns a text with the same words as text, but with consecutive characters from first.
func coded(text string, first rune) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' {
			return r
		}
		first++
		return first - 1
	}, text)
}

// chaos is a call in which a caller acts at random over the answers of an agent.
type chaos struct {
	rand    *rand.Rand
	digits  bool // whether the caller also presses digits
	early   bool // whether the brain answers turns that are not certain
	marks   marking
	blocks  bool // whether no voice interrupts some of the agent's words
	phrases []string

	mu        sync.Mutex
	turns     []chaosTurn  // without withdrawn turns
	answers   []string     // texts of the answers
	withdrawn []int        // numbers of the answers to withdrawn turns
	heard     map[rune]int // number of utterances that contain the first sample of a character of the caller
}

// marking selects the marks of a chaos's synthesizer.
type marking int

const (
	noMarks marking = iota
	trueMarks
	wrongMarks
)

// mark returns the marks of a text. Those of wrongMarks are random multiples of 10 ms, which is the length of a fade: the phone cannot decode
// a character if a fade begins or ends within its first samples. TestHoldsAtMarks checks marks at all samples.
func (c *chaos) mark(r tts.Request) []tts.Mark {
	marks := agentstest.VoiceMarks(r)
	if c.marks == noMarks {
		return nil
	}
	for i := range marks {
		if m := &marks[i]; c.marks == wrongMarks {
			r := rand.New(rand.NewPCG(c.random(), 4))
			m.From, m.To = m.From+r.IntN(5)-2, m.To+r.IntN(5)-2
			m.Start, m.End = m.Start+80*(r.IntN(250)-125), m.End+80*(r.IntN(250)-125)
		}
	}
	return marks
}

// chaosTurn is a turn and the number of its answer.
type chaosTurn struct {
	conversation.Turn
	answer int
}

// AnswersEarly implements conversation.EarlyBrain.
func (c *chaos) AnswersEarly() bool { return c.early }

// chaosStreamer is a streaming recognizer of a chaos. Every second session ends at a random time.
type chaosStreamer struct {
	*chaos
	engine *agentstest.StreamingRecognizer
}

func newChaosStreamer(c *chaos) chaosStreamer {
	return chaosStreamer{c, &agentstest.StreamingRecognizer{
		Recognizer: agentstest.Recognizer{Delay: time.Duration(c.rand.IntN(600)) * time.Millisecond},
		Lag:        time.Duration(c.rand.IntN(400)) * time.Millisecond,
		Break: func(session int, _ string) error {
			if session%2 == 0 && rand.New(rand.NewPCG(c.random(), 3)).IntN(300) == 0 {
				return errEngine
			}
			return nil
		},
	}}
}

// random returns a random number.
func (c *chaos) random() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rand.Uint64()
}

// Open implements conversation.Streamer.
func (s chaosStreamer) Open(ctx context.Context, h conversation.Hearing) (conversation.Stream, error) {
	stream, err := s.engine.Open(ctx, h)
	return &chaosStream{stream, s.chaos}, err
}

type chaosStream struct {
	conversation.Stream
	chaos *chaos
}

// Next translates the characters of the caller into phrases. A partial text contains the beginning of a phrase.
func (s *chaosStream) Next(ctx context.Context) (conversation.Heard, error) {
	h, err := s.Stream.Next(ctx)
	if h.Final {
		h.Text = s.chaos.understand(h.Text)
		return h, err
	}
	s.chaos.mu.Lock()
	defer s.chaos.mu.Unlock()
	var text strings.Builder
	for _, c := range h.Text {
		if c < callerRunes {
			text.WriteByte(' ')
			continue
		}
		text.WriteByte(strip(s.chaos.phrases[(c-callerRunes)/phraseRunes])[(c-callerRunes)%phraseRunes])
	}
	h.Text = text.String()
	return h, err
}

// understand returns the phrases that contain the characters of a final text, and counts the characters. The first character of a phrase
// does not suffice, because its 60 ms may belong to the utterance before: the agent's echo may have covered them.
func (c *chaos) understand(text string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var said []string
	for _, ch := range text {
		if ch < callerRunes {
			continue
		}
		c.heard[ch]++
		if n := int(ch-callerRunes) / phraseRunes; (ch-callerRunes)%phraseRunes > 0 && !slices.Contains(said, c.phrases[n]) {
			said = append(said, c.phrases[n])
		}
	}
	return strings.Join(said, " ")
}

// Listen implements conversation.Recognizer. It recognizes the phrases of the caller after a random time.
func (c *chaos) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	engine := agentstest.Recognizer{Delay: time.Duration(c.rand.IntN(4)*c.rand.IntN(1000)) * time.Millisecond}
	u, err := engine.Listen(ctx, h)
	return &chaosUtterance{Utterance: u, chaos: c}, err
}

type chaosUtterance struct {
	conversation.Utterance
	chaos *chaos
}

func (u *chaosUtterance) Finish(ctx context.Context) (conversation.Recognized, error) {
	r, err := u.Utterance.Finish(ctx)
	r.Text = u.chaos.understand(r.Text)
	return r, err
}

// Respond implements conversation.Brain. It ends the conversation at "bye".
func (c *chaos) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		c.mu.Lock()
		number := len(c.answers)
		first := rune(agentRunes + answerRunes*number)
		var texts []string
		for length := 10 + c.rand.IntN(100); length > 0; {
			n := min(length, 4+c.rand.IntN(40))
			text := strings.TrimSpace(strings.Repeat("abcde fgh ij ", 4)[:n])
			texts = append(texts, coded(text, first))
			first += rune(len(strings.ReplaceAll(text, " ", "")))
			length -= n
		}
		c.answers = append(c.answers, strings.Join(texts, " "))
		wait := time.Duration(c.rand.IntN(3)*c.rand.IntN(600)) * time.Millisecond
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if t.Withdraw() {
				c.withdrawn = append(c.withdrawn, number)
				return
			}
			c.turns = append(c.turns, chaosTurn{t, number})
		}()
		if strings.Contains(t.Text, "bye") {
			if t.Commit(ctx) == nil {
				yield(conversation.End{}, nil)
			}
			return
		}
		for i, text := range texts {
			if c.blocks && !yield(conversation.BargeIn{Level: []conversation.Interruptibility{conversation.NeverInterrupted, 0}[(number+i)/2%2]}, nil) {
				return
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return
			}
			if !yield(conversation.Say{Text: text}, nil) {
				return
			}
		}
		if number%2 > 0 && !yield(conversation.Press{Digits: fmt.Sprintf("%03d", number)}, nil) {
			return
		}
		_ = t.Commit(ctx)
	}
}

// call acts at random for 40 s, waits until all words are recognized, and says "bye". Each phrase except "bye" and acknowledgements
// contains a unique number. All sounds begin and end with a frame, so that no frame of silence contains the beginning of a character.
func (c *chaos) call(ctx context.Context, p *agentstest.Phone) {
	r := rand.New(rand.NewPCG(c.rand.Uint64(), 2))
	speak := func(text string) {
		c.mu.Lock()
		code := coded(text, rune(callerRunes+phraseRunes*len(c.phrases)))
		c.phrases = append(c.phrases, text)
		c.mu.Unlock()
		p.Play(append(agentstest.Voice(code, 8000), make([]int16, 8*80)...))
	}
	for p.Elapsed() < 40*time.Second {
		if p.WaitElapsed(ctx, p.Elapsed()+time.Duration(r.IntN(3000))*time.Millisecond) != nil {
			return
		}
		switch n := r.IntN(10); {
		case n < 3:
			speak([]string{"uh huh", "okay i see", "ummmm"}[n])
		case n < 5:
			speak(fmt.Sprintf("number %02d", len(c.phrases)))
		case n < 6:
			speak(fmt.Sprintf("but what about it number %02d", len(c.phrases)))
		case n < 8:
			p.Play(buzz(time.Duration(60+20*r.IntN(15)) * time.Millisecond))
		case c.digits:
			p.Press("1")
		default:
			p.Play(make([]int16, 160*r.IntN(45)))
		}
	}
	for range 20 {
		if p.WaitElapsed(ctx, p.Elapsed()+5*time.Second) != nil {
			return
		}
		speak("bye")
	}
}

// TestInvariants checks the invariants of conversations with callers who act at random: see the comments of the checks.
func TestInvariants(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := &chaos{rand: rand.New(rand.NewPCG(seed, 1)), digits: seed%3 == 0, early: seed%4 < 2, blocks: seed%7 < 3, marks: marking(seed % 5 % 3), heard: map[rune]int{}}
			var engine conversation.Recognizer = c
			if seed%2 > 0 {
				engine = newChaosStreamer(c)
			}
			var turns conversation.TurnDetector
			if seed%5 > 0 {
				turns = endpoint.Rules{}
			}
			r := run(t, conversation.Config{
				Recognizer: engine, Synthesizer: &agentstest.Synthesizer{Mark: c.mark}, Turns: turns, Silence: time.Hour, InterDigit: 500 * time.Millisecond,
				EndOfTurn: []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, 800 * time.Millisecond}[seed/3%3],
			}, c, c.call)
			if r.err != nil || r.outcome.By != conversation.ByAgent {
				t.Errorf("outcome %+v, %v", r.outcome, r.err)
			}
			c.checkPlayed(t, r)
			if c.marks != wrongMarks {
				c.checkTold(t, r)
			}
			c.checkUtterances(t, r)
			c.checkWords(t, r)
			c.checkAnswers(t, r)
			for _, e := range r.entries {
				for _, h := range e.Holds {
					if h.Length < 0 || h.Length > 8*time.Second || h.Start < e.Start-8*time.Second {
						t.Errorf("hold %+v of %+v", h, e)
					}
				}
			}
		})
	}
}

// checkPlayed checks that the phone hears the characters of an answer in order from the first one, that a resumed answer repeats at most 400
// ms (with wrong marks a second), and none of it twice, and that no earlier answer is heard after a later one. With marks, an answer that
// repeats something begins with a word.
func (c *chaos) checkPlayed(t *testing.T, r result) {
	t.Helper()
	answer, next, most := -1, rune(0), rune(7)
	if c.marks == wrongMarks {
		most = 18
	}
	repeats := map[rune]int{}
	for _, ch := range r.phone.Heard() {
		if ch < agentRunes {
			continue // a blank
		}
		n, at := int(ch-agentRunes)/answerRunes, (ch-agentRunes)%answerRunes
		switch {
		case n > answer && at == 0:
			answer, next = n, 1
		case n == answer && at == next:
			next++
		case n == answer && at < next && at >= next-most && repeats[ch] == 0:
			if before, _, _ := strings.Cut(c.answers[n], string(ch)); c.marks == trueMarks && before != "" && !strings.HasSuffix(before, " ") {
				t.Errorf("answer %d, which was held at character %d, continues in the middle of a word, at %d", n, next, at)
			}
			for at := at; at < next; at++ {
				repeats[ch-(ch-agentRunes)%answerRunes+at]++
			}
			next = at + 1
		default:
			t.Fatalf("after answer %d, character %d, the phone hears answer %d, character %d", answer, next-1, n, at)
		}
	}
}

// checkAnswers checks that a withdrawn answer never sounds or presses keys, that no answer presses its keys twice, and that a turn of the
// caller has at most one answer that sounds.
func (c *chaos) checkAnswers(t *testing.T, r result) {
	t.Helper()
	for _, ch := range r.phone.Heard() {
		if n := int(ch-agentRunes) / answerRunes; ch >= agentRunes && slices.Contains(c.withdrawn, n) {
			t.Fatalf("the withdrawn answer %d sounds", n)
		}
	}
	pressed := map[string]bool{}
	for code := range slices.Chunk([]byte(r.phone.Pressed()), 3) {
		n, err := strconv.Atoi(string(code))
		if err != nil || slices.Contains(c.withdrawn, n) || n >= len(c.answers) || pressed[string(code)] {
			t.Errorf("the keys %q of an answer are pressed, %d are withdrawn", code, c.withdrawn)
		}
		pressed[string(code)] = true
	}
	answered := map[int]bool{}
	for _, e := range r.entries {
		if e.Role != conversation.RoleAgent || e.Turn == 0 {
			continue
		}
		if answered[e.Turn] {
			t.Errorf("turn %d has two answers:\n%s", e.Turn, strings.Join(r.lines, "\n"))
		}
		answered[e.Turn] = true
		for i, b := range e.Begun {
			if b.Used != (b.Why == "") || b.Used && i < len(e.Begun)-1 || len(e.Begun) > 3 {
				t.Errorf("turn %d has the early answers %+v", e.Turn, e.Begun)
			}
		}
	}
}

// checkTold checks that the brain and the transcript are told exactly the words that were played.
func (c *chaos) checkTold(t *testing.T, r result) {
	t.Helper()
	played := make([]int, len(c.answers)) // number of characters of each answer, without blanks
	for _, ch := range r.phone.Heard() {
		if ch >= agentRunes {
			n := int(ch-agentRunes) / answerRunes
			played[n] = max(played[n], int(ch-agentRunes)%answerRunes+1)
		}
	}
	check := func(what string, n int, told string) {
		whole := strip(c.answers[n])
		got := len([]rune(strip(told)))
		if !strings.HasPrefix(c.answers[n], told) || got > played[n] {
			t.Errorf("%s: answer %d is told as %q of %q, and %d characters were played", what, n, told, c.answers[n], played[n])
			return
		}
		word, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(c.answers[n], told)), " ")
		if rest := len([]rune(word)); rest > 0 && played[n] > got+rest || played[n] == len([]rune(whole)) && played[n]-got > 5 {
			t.Errorf("%s: answer %d is told as %q of %q, but %d characters were played", what, n, told, c.answers[n], played[n])
		}
	}
	for i, turn := range c.turns {
		if turn.Interrupted {
			check("turn", c.turns[i-1].answer, turn.Heard)
		}
	}
	for _, e := range r.entries {
		if e.Role == conversation.RoleAgent && !e.Digits {
			check("transcript", int([]rune(e.Text)[0]-agentRunes)/answerRunes, e.Text)
		}
	}
}

// checkUtterances checks that every character of the caller belongs to at most one utterance. Without digits, which end utterances, and
// without an answer that three noises have held, which short words do not hold, every character of words other than acknowledgements
// belongs to one.
func (c *chaos) checkUtterances(t *testing.T, r result) {
	t.Helper()
	noisy := slices.ContainsFunc(r.entries, func(e conversation.Entry) bool {
		noises := 0
		for _, h := range e.Holds {
			if h.Why != conversation.HoldCut {
				noises++
			}
		}
		return noises >= 3
	})
	for i, phrase := range c.phrases {
		for at := range len(strip(phrase)) {
			if ch := rune(callerRunes + phraseRunes*i + at); !c.digits && !noisy && strings.Contains(phrase, "number") && c.heard[ch] == 0 {
				t.Errorf("character %d of %q belongs to no utterance", at, phrase)
			}
		}
	}
	for ch, n := range c.heard {
		if n > 1 {
			t.Errorf("character %d of phrase %d belongs to %d utterances", (ch-callerRunes)%phraseRunes, (ch-callerRunes)/phraseRunes, n)
		}
	}
}

// checkWords checks that every recognized phrase is in the transcript once, and that the brain is asked each phrase which is no
// acknowledgement once, in order. A digit ends the caller's sentence. The first character of a phrase does not suffice for its recognition:
// see understand.
func (c *chaos) checkWords(t *testing.T, r result) {
	t.Helper()
	said := strings.Join(r.lines, "\n")
	var asked strings.Builder
	for _, turn := range c.turns {
		asked.WriteString(turn.Text + "\n")
	}
	last := 0
	for i, phrase := range c.phrases {
		if !strings.Contains(phrase, "number") || c.heard[rune(callerRunes+phraseRunes*i+1)] == 0 {
			continue
		}
		if n := strings.Count(said+"\n", phrase+"\n") + strings.Count(said+"\n", phrase+" "); n != 1 && (!c.digits || n != 2) { // a digit splits words
			t.Errorf("%q is in the transcript %d times:\n%s", phrase, n, said)
		}
		at := strings.Index(asked.String(), phrase)
		if !c.digits && (at < last || strings.Count(asked.String(), phrase) != 1) {
			t.Errorf("%q is not asked once after the phrase before:\n%s", phrase, asked.String())
		}
		last = max(at, last)
	}
}
