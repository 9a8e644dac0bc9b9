package conversation

import (
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/speech/tts"
)

// markedText is an answer of a few lines without a silence between the words.
type markedText struct {
	words []tts.Mark // their samples count from the beginning of the answer
	texts []string
	clips []*clip
	total int
}

func newMarkedText(random *rand.Rand) (m markedText) {
	for range 1 + random.IntN(3) {
		var words []string
		var marks []tts.Mark
		length, runes := random.IntN(500), 0
		for range 1 + random.IntN(8) {
			word := strings.Repeat("é", 1+random.IntN(9))
			mark := tts.Mark{From: runes, To: runes + len([]rune(word)), Start: length, End: length + 300 + random.IntN(3000)}
			marks = append(marks, mark)
			words = append(words, word)
			runes, length = mark.To+1, mark.End+random.IntN(2)*random.IntN(200)
			m.words = append(m.words, tts.Mark{Start: m.total + mark.Start, End: m.total + mark.End})
		}
		text := strings.Join(words, " ")
		samples := slices.Repeat([]int16{10000}, length+1)
		c := &clip{text: text, changed: make(chan struct{})}
		c.mark(marks, len(samples), io.EOF)
		c.add(samples, io.EOF)
		m.texts, m.clips, m.total = append(m.texts, text), append(m.clips, c), m.total+len(samples)
	}
	return m
}

// tracer is a player that records the positions of the samples that it plays or will play.
type tracer struct {
	player

	mouth     *mouth
	positions []int
}

func (p *tracer) Write(ctx context.Context, samples []int16) error {
	for i := range samples {
		p.positions = append(p.positions, p.mouth.at+i)
	}
	return p.player.Write(ctx, samples)
}

func (p *tracer) Flush() int {
	n := p.player.Flush()
	p.positions = p.positions[:len(p.positions)-n]
	return n
}

// TestHoldsAtMarks checks that the words that were heard before a hold, and the words that are said after it, are the text: none is missing
// and none is heard twice. A word that was held is said again from its beginning, unless it was held before. No sample is played more than
// twice.
func TestHoldsAtMarks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 1))
		text := newMarkedText(random)
		p := &tracer{}
		m := newMouth(p)
		p.mouth = m
		now := func() time.Duration { return time.Second }
		sound := func(n int) {
			p.play(n)
			m.watch(now)
		}
		held := map[int]bool{} // words that were held before
		ready := true          // whether all lines so far were written once
		for begun := 0; !m.silent() || begun < len(text.clips); {
			switch n := random.IntN(10); {
			case n < 3:
				sound(160 * random.IntN(6))
			case n == 3:
				m.hold(t.Context(), now, time.Duration(random.IntN(200))*time.Millisecond)
				sound(len(p.waits))
				text.checkHold(t, m, held)
				m.resume(time.Second, HoldNoise)
			case n == 4 && ready && begun < len(text.clips):
				m.begin(text.clips[begun])
				begun, ready = begun+1, false
			default:
				did, _, err := m.write(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				ready = ready || did == written
			}
		}
		if heard := m.heard(); heard != strings.Join(text.texts, " ") {
			t.Errorf("seed %d: %q was heard of %q", seed, heard, text.texts)
		}
		counts := make([]int, text.total)
		for _, at := range p.positions {
			counts[at]++
		}
		for at, n := range counts {
			if n < 1 || n > 2 {
				t.Fatalf("seed %d: sample %d was played %d times", seed, at, n)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// checkHold checks the heard words and the position of a held answer. held contains the words that were held within.
func (m markedText) checkHold(t *testing.T, mouth *mouth, held map[int]bool) {
	t.Helper()
	heard := 0
	for _, w := range m.words {
		if w.End <= mouth.reached {
			heard++
		}
	}
	all := strings.Fields(strings.Join(m.texts, " "))
	if told := mouth.heard(); told != strings.Join(all[:heard], " ") {
		t.Errorf("%d words were heard of %q: %q", heard, all, told)
	}
	for i, w := range m.words {
		switch {
		case mouth.at <= w.Start || mouth.at >= w.End:
		case !held[i]:
			t.Errorf("the answer continues at %d, in the word %d %+v", mouth.at, i, w)
		}
		if w.Start < mouth.reached && mouth.reached < w.End {
			held[i] = true
		}
	}
	if heard < len(m.words) && mouth.at > m.words[heard].Start && !held[heard] {
		t.Errorf("the answer continues at %d, after the word %d", mouth.at, heard)
	}
}

// TestWordsWithoutMarks checks the words at positions of a text of which only some words have marks.
func TestWordsWithoutMarks(t *testing.T) {
	t.Parallel()
	c := &clip{text: "One two, three - four five.", changed: make(chan struct{})}
	c.add(make([]int16, 1000), nil)
	c.mark([]tts.Mark{{From: 0, To: 3, Start: 100, End: 200}, {From: 9, To: 14, Start: 500, End: 600}, {From: 17, To: 21, Start: 700, End: 800}}, 0, nil)
	for at, want := range map[int][2]int{
		50: {50, 50}, 100: {100, 100}, 101: {100, 200}, 199: {100, 200}, 200: {}, 499: {}, 550: {500, 600}, 650: {650, 650}, 850: {},
	} {
		start, end, ok := c.word(at)
		if ok != (want[1] > 0) || [2]int{start, end} != want {
			t.Errorf("at %d: a word from %d to %d, %v; want %d", at, start, end, ok, want)
		}
	}
	for played, want := range map[int]string{
		0: "", 199: "", 200: "One", 350: "One", 499: "One two,", 599: "One two,", 600: "One two, three -", 799: "One two, three -", 800: "One two, three - four",
		999: "One two, three - four", 1000: c.text,
	} {
		if got := c.heard(played, 1000); got != want {
			t.Errorf("%d samples played: %q, want %q", played, got, want)
		}
	}
	c.mark([]tts.Mark{{From: 0, To: 3, Start: 100, End: 200}, {From: 17, To: 27, Start: 700, End: 4000}}, 0, io.EOF)
	c.add(nil, io.EOF)
	if start, end, ok := c.word(900); start != 700 || end != 1000 || !ok {
		t.Errorf("a word beyond the audio lasts from %d to %d, %v", start, end, ok)
	}
}
