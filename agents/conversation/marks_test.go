package conversation_test

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/tts"
)

// fliteSpeech is a text with its audio and marks at 8 kHz, as flite speaks it.
type fliteSpeech struct {
	text  string
	audio []int16
	marks []tts.Mark
}

func speakByFlite(t *testing.T, text string) fliteSpeech {
	t.Helper()
	engine, err := flite.New(flite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := engine.Synthesize(t.Context(), tts.Request{Text: text, Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	s := fliteSpeech{text: text}
	for buffer := make([]int16, 8000); err == nil; {
		var n int
		n, err = stream.Read(buffer)
		s.audio = append(s.audio, buffer[:n]...)
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	s.marks = tts.MarksOf(stream)
	return s
}

// synthesizer returns a synthesizer that speaks the text by flite, and all others by the voice of tests.
func (s fliteSpeech) synthesizer() *agentstest.Synthesizer {
	return &agentstest.Synthesizer{
		Sound: func(r tts.Request) []int16 {
			if r.Text == s.text {
				return slices.Clone(s.audio)
			}
			return agentstest.Voice(r.Text, r.Rate)
		},
		Mark: func(r tts.Request) []tts.Mark {
			if r.Text == s.text {
				return s.marks
			}
			return nil
		},
	}
}

// position returns the position in the audio of the played samples from i on, or -1 if they are none of it.
func (s fliteSpeech) position(played []int16, i int) int {
	const length = 800
	if i+length > len(played) {
		return -1
	}
	for at := range len(s.audio) - length {
		if s.audio[at] == played[i] && slices.Equal(s.audio[at:at+length], played[i:i+length]) {
			return at
		}
	}
	return -1
}

// pauseOf returns the first 200 ms or more of silence in played samples, after the position from.
func pauseOf(played []int16, from int) (start, end int) {
	for start = from; start < len(played); start = end + 1 {
		for end = start; end < len(played) && played[end] == 0; end++ {
		}
		if end-start >= 1600 {
			return start, end
		}
	}
	return len(played), len(played)
}

const longNotice = "Your appointment with the dentist is confirmed for Friday, the nineteenth of November, and remember that the practice has moved."

// TestFliteResumesAtWords holds real speech at many places. The answer must continue at the beginning of the word that was held, or where it
// paused after a word.
func TestFliteResumesAtWords(t *testing.T) {
	t.Parallel()
	speech := speakByFlite(t, longNotice)
	var held, finished int
	for i := range 16 {
		b := &brain{answer: func(conversation.Turn) []conversation.Step { return append(say(longNotice), conversation.End{}) }}
		r := run(t, conversation.Config{Synthesizer: speech.synthesizer()}, b, func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitElapsed(ctx, 1500*time.Millisecond+time.Duration(i)*170*time.Millisecond))
			p.Play(buzz(280 * time.Millisecond))
		})
		expectLines(t, r, "agent: "+longNotice)
		played := r.phone.Played()
		const full = 6000 // a position before the hold
		begun := slices.IndexFunc(played, func(v int16) bool { return v != 0 })
		origin := begun + full - speech.position(played, begun+full)
		start, end := pauseOf(played, begun+full)
		const faded = 80 // samples of the fade-in of the resumed word, of which the first ones are rounded to silence
		at, until := speech.position(played, end+faded)-faded, start-origin
		word := slices.IndexFunc(speech.marks, func(m tts.Mark) bool { return m.Start <= at && at < m.Start+faded && at < until && until < m.End })
		switch {
		case len(r.entries[0].Holds) != 1 || at < -faded:
			t.Errorf("hold %d: holds %+v, continues at %d", i, r.entries[0].Holds, at)
		case word >= 0:
			held++
			for n := at; n < speech.marks[word].Start+faded; n++ {
				if want := math.Round(float64(speech.audio[n]) * float64(n-speech.marks[word].Start) / faded); float64(played[end+n-at]) != want {
					t.Fatalf("hold %d: sample %d of the resumed word is %d, want %v", i, n-speech.marks[word].Start, played[end+n-at], want)
				}
			}
		case at >= until && !slices.ContainsFunc(speech.marks, func(m tts.Mark) bool { return m.Start+faded < at && at < m.End }):
			finished++
		default:
			t.Errorf("hold %d: the agent paused at %d and continued at %d, marks %+v", i, until, at, speech.marks)
		}
	}
	if held < 3 || finished < 3 {
		t.Errorf("%d words were held, %d finished", held, finished)
	}
	t.Logf("%d words were held and said again, %d were finished", held, finished)
}

// TestFliteIsHeardToTheWord interrupts real speech at many places. The brain and the transcript must be told exactly the words that had
// been played completely.
func TestFliteIsHeardToTheWord(t *testing.T) {
	t.Parallel()
	speech := speakByFlite(t, longNotice)
	told := map[string]bool{}
	for i := range 16 {
		b := &brain{answer: func(turn conversation.Turn) []conversation.Step {
			if turn.Kind == conversation.TurnStart {
				return say(longNotice)
			}
			return []conversation.Step{conversation.End{}}
		}}
		r := run(t, conversation.Config{Synthesizer: speech.synthesizer()}, b, func(ctx context.Context, p *agentstest.Phone) {
			must(t, p.WaitElapsed(ctx, 2*time.Second+time.Duration(i)*230*time.Millisecond))
			p.Say("what")
		})
		played := r.phone.Played()
		const full = 6000
		begun := slices.IndexFunc(played, func(v int16) bool { return v != 0 })
		origin := begun + full - speech.position(played, begun+full)
		start, _ := pauseOf(played, begun+full)
		turns := b.asked()
		if len(turns) != 2 || !turns[1].Interrupted || !strings.HasPrefix(r.lines[0], "agent: "+turns[1].Heard+" [") {
			t.Errorf("cut %d: turns %+v, transcript %q", i, turns, r.lines)
			continue
		}
		heard := turns[1].Heard
		told[heard] = true
		for n, m := range speech.marks {
			within := m.To <= len([]rune(heard))
			if within && m.End > start-origin+8 || !within && m.End < start-origin-80 {
				t.Errorf("cut %d at %d: %q was heard, word %d is %+v", i, start-origin, heard, n, m)
			}
		}
	}
	if len(told) < 6 {
		t.Errorf("only %v were heard", told)
	}
}
