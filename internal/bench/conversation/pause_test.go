package conversation_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/internal/sounds"
)

// recognizers contains the latencies of a batch and of a streaming recognizer.
var recognizers = []struct {
	name string
	engines
}{
	{"batch, 150 ms", engines{final: 150 * time.Millisecond, brain: 350 * time.Millisecond, speech: 150 * time.Millisecond}},
	{"partials, 150 ms", engines{final: 150 * time.Millisecond, partial: 150 * time.Millisecond, brain: 350 * time.Millisecond, speech: 150 * time.Millisecond}},
	{"partials, 200 ms", engines{final: 150 * time.Millisecond, partial: 200 * time.Millisecond, brain: 350 * time.Millisecond, speech: 150 * time.Millisecond}},
}

// spokenPart is a part of a turn, and the pause after it.
type spokenPart struct {
	samples []int16
	words   []word
	pause   time.Duration
}

// assemble returns the audio of a turn that begins after 1.5 s, its words, and the sample at which the last word ends.
func assemble(parts []spokenPart) (audio []int16, words []word, end int) {
	audio = append(audio, silence(1500*time.Millisecond)...)
	for _, p := range parts {
		words = append(words, shifted(p.words, len(audio))...)
		audio = append(audio, p.samples...)
		end = len(audio)
		audio = append(audio, silence(p.pause)...)
	}
	audio = append(audio, silence(6*time.Second)...)
	return sounds.Mix(audio, sounds.White(-65)), words, end
}

func silence(d time.Duration) []int16 { return make([]int16, int(d*rate/time.Second)) }

// oneTurn runs a call, and names what happened to its only turn: complete in one turn, or cut inside. It also returns the silence after
// the last word until the turn was over, and how many answers the brain began.
func oneTurn(t *testing.T, s scene, end int) (names []string, wait time.Duration, calls int) {
	t.Helper()
	var said []string
	for _, w := range s.words {
		said = append(said, w.text)
	}
	r := simulate(t, s)
	cut := false
	for _, turn := range r.turns {
		cut = cut || turn.at < time.Duration(end)*time.Second/rate
		wait = turn.at - time.Duration(end)*time.Second/rate
	}
	complete := len(r.turns) == 1 && strings.Join(strings.Fields(r.turns[0].Text), " ") == strings.Join(said, " ")
	return []string{when(complete, "complete"), when(cut, "cut")}, wait, r.asked
}

// TestNumbers measures telephone numbers of ten digits that are read with human pauses.
func TestNumbers(t *testing.T) {
	t.Parallel()
	c := load(t)
	each := 1
	if !small() {
		each = 20
	}
	styles := []struct {
		name  string
		pause func(i int, r *rand.Rand) time.Duration
	}{
		{"digit by digit, 350 to 650 ms", func(_ int, r *rand.Rand) time.Duration { return time.Duration(350+r.IntN(300)) * time.Millisecond }},
		{"3-3-4 with 900 ms", func(i int, r *rand.Rand) time.Duration {
			if i == 2 || i == 5 {
				return time.Duration(850+r.IntN(100)) * time.Millisecond
			}
			return time.Duration(60+r.IntN(60)) * time.Millisecond
		}},
	}
	position := 0
	for _, style := range styles {
		for _, known := range []bool{true, false} {
			for _, e := range recognizers {
				position++
				at := position
				name := fmt.Sprintf("ten digits, %s, expected: %v", style.name, known)
				t.Run(name+", "+e.name, func(t *testing.T) {
					t.Parallel()
					var n counts
					for _, digits := range c.digits {
						if digits[0].language == "ru" {
							continue // the rules do not know the language
						}
						for seed := range each {
							r := rand.New(rand.NewPCG(uint64(seed), 3))
							var parts []spokenPart
							for i := range 10 {
								u := digits[r.IntN(10)]
								parts = append(parts, spokenPart{u.samples, u.words, style.pause(i, r)})
							}
							audio, words, end := assemble(parts)
							s := scene{audio: audio, words: words, network: true, engines: e.engines, config: conversation.Config{Language: digits[0].language}}
							s.ask(known)
							names, _, _ := oneTurn(t, s, end)
							n.add(names...)
						}
					}
					addRow(3, at, name, e.name, n.percent("complete"), n.percent("cut"))
					t.Logf("complete, cut: %s", n.percent("complete", "cut"))
					atLeast(t, "complete", n.share("complete"), 100, 0)
				})
			}
		}
	}
}

// ask lets the agent ask for a telephone number, before the caller speaks.
func (s *scene) ask(known bool) {
	s.opening = "your number?"
	if known {
		s.expect = conversation.Expect{Answer: expect.Answer{Kind: expect.Digits, Min: 10, Max: 10}}
	}
}

// spellings contains the ways in which a recognizer writes a sentence.
var spellings = []struct {
	name  string
	write func(text string, first, last bool) string // of a word
	// The median and the 95th percentile of the latency of the small measurement. Of its sentences, one ends with a number and one with
	// "is", which bare words do not show to be ends.
	p50, p95 float64
}{
	{"punctuated", func(text string, first, last bool) string {
		if first {
			r, n := utf8.DecodeRuneInString(text)
			text = string(unicode.ToUpper(r)) + text[n:]
		}
		if last && !strings.ContainsAny(text[len(text)-1:], ".?!") {
			text += "."
		}
		return text
	}, 720, 800},
	{"bare words", func(text string, _, _ bool) string {
		return strings.ToLower(strings.Trim(text, ".,;:?!()\"¿¡"))
	}, 1000, 1200},
}

// spelled returns an utterance whose words a recognizer writes.
func (u utterance) spelled(write func(text string, first, last bool) string) utterance {
	u.words = slices.Clone(u.words)
	for i, w := range u.words {
		u.words[i].text = write(w.text, i == 0, i == len(u.words)-1)
	}
	return u
}

// isSentence reports whether an utterance is one whole sentence.
func (u *utterance) isSentence() bool {
	for i, w := range u.words {
		if strings.Contains(w.text, "...") || i < len(u.words)-1 && strings.ContainsAny(w.text, ".?!") {
			return false
		}
	}
	return true
}

// TestSentencesWithPauses measures sentences in which the caller pauses at one or two words, for a time of log-normal distribution with a
// median of 0.5 s and a 90th percentile of 1.1 s. The pauses cut fluent speech: its pitch at them is that of the middle of a phrase.
func TestSentencesWithPauses(t *testing.T) {
	t.Parallel()
	c := load(t)
	each := 1
	if !small() {
		each = 5
	}
	for position, e := range recognizers {
		for k, spelling := range spellings {
			name := e.name + ", " + spelling.name
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var n counts
				var waits []time.Duration
				asked := 0
				for i, u := range c.sentences {
					if len(u.words) < 5 || u.language == "ru" || u.speaker == "it_IT_f_Menardi" || !u.isSentence() {
						continue // the texts are unknown, or the rules do not know the language
					}
					u = u.spelled(spelling.write)
					for seed := range each {
						r := rand.New(rand.NewPCG(uint64(i), uint64(4+seed)))
						audio, words, end := assemble(u.withPauses(r))
						names, wait, calls := oneTurn(t, scene{
							audio: audio, words: words, network: true, engines: e.engines, config: conversation.Config{Language: u.language},
						}, end)
						n.add(names...)
						asked += calls
						if names[0] != "" {
							waits = append(waits, wait)
						}
					}
				}
				at := 100 + len(spellings)*position + k
				perTurn := float64(asked) / float64(n.all+n.hits["cut"])
				addRow(3, at, "sentences with pauses", name, n.percent("complete"), n.percent("cut"))
				addRow(4, at, "end of a turn after the last word of a sentence with pauses", name, fmt.Sprint(quantile(waits, 0.5).Milliseconds()), fmt.Sprint(quantile(waits, 0.95).Milliseconds()))
				addRow(4, 200+at, "answers begun for a turn with pauses, mean", name, fmt.Sprintf("%.2f", perTurn), "")
				atMost(t, "cut", n.share("cut"), 12.5, 12.5)
				atMost(t, "answers begun for a turn", perTurn, 1.5, 0.3)
				t.Logf("%d sentences; complete, cut: %s; wait %s; %.2f answers a turn", n.all, n.percent("complete", "cut"), millis(waits), perTurn)
			})
		}
	}
}

// withPauses returns a sentence with one pause for each three seconds, at least one. A pause is more probable after a comma.
func (u *utterance) withPauses(r *rand.Rand) []spokenPart {
	pauses := map[int]bool{}
	for len(pauses) < 1+len(u.samples)/(3*rate) {
		i := r.IntN(len(u.words) - 1)
		if strings.ContainsAny(u.words[i].text, ",;:") || r.IntN(3) == 0 {
			pauses[i] = true
		}
	}
	var parts []spokenPart
	first := 0
	for i, w := range u.words {
		if !pauses[i] && i < len(u.words)-1 {
			continue
		}
		begin, end := u.words[first].start, w.end
		part := spokenPart{samples: u.samples[begin:end], words: shifted(u.words[first:i+1], -begin)}
		if i < len(u.words)-1 {
			part.pause = time.Duration(0.5 * math.Exp(0.615*r.NormFloat64()) * float64(time.Second))
		}
		parts = append(parts, part)
		first = i + 1
	}
	return parts
}

// TestLatency measures the first sound after the last word, with engines of 150, 350 and 150 ms and without latency.
func TestLatency(t *testing.T) {
	t.Parallel()
	c := load(t)
	for position, e := range append(slices.Clip(recognizers), struct {
		name string
		engines
	}{"no latency", engines{}}) {
		for k, spelling := range spellings {
			name := e.name + ", " + spelling.name
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var first, added []time.Duration
				for _, u := range c.sentences {
					if !u.isSentence() {
						continue
					}
					u = u.spelled(spelling.write)
					audio, words, end := assemble([]spokenPart{{samples: u.samples, words: u.words}})
					r := simulate(t, scene{audio: audio, words: words, network: true, engines: e.engines, config: conversation.Config{Language: u.language}})
					for f := end / frame; f < len(r.played); f++ {
						if r.played[f] {
							first = append(first, time.Duration(f)*20*time.Millisecond-time.Duration(end)*time.Second/rate)
							break
						}
					}
					for _, a := range r.outcome.Answers {
						added = append(added, a.Playing-a.EndOfTurn)
					}
				}
				at := len(spellings)*position + k
				addRow(4, at, "first sound after the last word", name, fmt.Sprint(quantile(first, 0.5).Milliseconds()), fmt.Sprint(quantile(first, 0.95).Milliseconds()))
				if e.partial > 0 {
					atMost(t, "median", float64(quantile(first, 0.5).Milliseconds()), spelling.p50, 40)
					atMost(t, "p95", float64(quantile(first, 0.95).Milliseconds()), spelling.p95, 80)
				}
				if e.final == 0 {
					atMost(t, "own time", float64(quantile(added, 0.95).Milliseconds()), 20, 0)
					addRow(4, 50+k, "the same, after the end of the turn was detected", name, fmt.Sprint(quantile(added, 0.5).Milliseconds()), fmt.Sprint(quantile(added, 0.95).Milliseconds()))
				}
				t.Logf("%d answers, %s; after the end of the turn %s", len(first), millis(first), millis(added))
			})
		}
	}
}
