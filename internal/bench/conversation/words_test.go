package conversation_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/sounds"
)

// wordSection is the index of the table's section about short words.
const wordSection = 6

// longestWord is the maximum length of a short word.
const longestWord = 700 * time.Millisecond

// shortWords contains single words of a kind of voice.
type shortWords struct {
	name  string
	words []utterance
}

// fliteSpeakers lists the voices of flite by half.
var fliteSpeakers = map[string][]string{"tune": {"slt", "rms"}, "held": {"awb", "kal16"}}

// wordsOf returns short words of each kind of voice. None of them is a back-channel, which would not interrupt the agent.
func wordsOf(t *testing.T) []shortWords {
	t.Helper()
	texts := []string{"no", "stop", "two", "wait", "what", "six", "Bob", "cat"}
	flite, espeaks := shortWords{name: "flite"}, shortWords{name: "espeak-ng"}
	add := func(s *shortWords, voice, text string, samples []int16) {
		if u, ok := newUtterance(voice, "en", text, samples); ok && len(u.samples) < int(longestWord*rate/time.Second) {
			s.words = append(s.words, u)
		}
	}
	for _, voice := range fliteSpeakers[*half] {
		for _, text := range texts {
			add(&flite, voice, text, sounds.Speech(t, voice, text))
		}
	}
	if small() {
		return []shortWords{flite}
	}
	for _, variant := range speakersOf[*half] {
		for _, text := range texts {
			add(&espeaks, variant, text, espeak(t, "en+"+variant, 160, text))
		}
	}
	recorded := shortWords{name: "recorded"}
	for _, s := range speakers[*half] {
		var all []utterance
		for _, pattern := range []string{"digits/[0-9].wav", "digits/[0-9]0.wav", "digits/day-*.wav", "letters/?.wav", "phonetic/?_p.wav"} {
			files, err := filepath.Glob(filepath.Join(*corpusDir, "prompts/usr/share/asterisk/sounds", s.folder, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				name := strings.TrimSuffix(filepath.Base(file), ".wav")
				u, ok := newUtterance(s.folder, s.language, "word "+name, readWAV(t, file))
				if ok && len(u.samples) < int(longestWord*rate/time.Second) {
					u.words = []word{{text: "word" + name, end: len(u.samples)}}
					all = append(all, u)
				}
			}
		}
		recorded.words = append(recorded.words, spread(all, *utterances/2)...)
	}
	return []shortWords{recorded, flite, espeaks}
}

// said returns a call in which a caller says a word at a sample, with a level in dBFS, after an earlier sentence.
func (u utterance) said(earlier []int16, at, samples int, dBFS float64, noise func(int) float64) []int16 {
	audio := make([]int16, samples)
	copy(audio[rate/2:], earlier)
	gain := sounds.Amplitude(dBFS) / sounds.Amplitude(voiceLevel)
	for i, s := range u.samples {
		audio[at+i] = sounds.Clip(float64(s) * gain)
	}
	return sounds.Mix(audio, noise)
}

// answers runs a call in which the caller says a sentence, and the agent answers. More than 3 s after the sentence, the caller makes a sound.
// It reports whether that is a turn of the caller, and whether the turn contains the words.
func answers(t *testing.T, audio []int16, words []word, language string) (turn, complete bool) {
	t.Helper()
	sentence := word{text: "please", start: rate / 2, end: 5 * rate / 2}
	r := simulate(t, scene{
		audio: audio, words: append([]word{sentence}, words...), network: true, engines: engines{final: 150 * time.Millisecond},
		config: conversation.Config{Language: language},
	})
	return len(r.turns) > 1, len(r.turns) == 2 && len(words) > 0 && r.turns[1].Text == words[0].text
}

// sentence returns the caller's first sentence of a call, which lasts for 2 s.
func sentence(t *testing.T) []int16 {
	t.Helper()
	u, _ := newUtterance("kal", "en", "please", sounds.Speech(t, "kal", "Right, yes please, I would like that."))
	return u.samples[:min(len(u.samples), 2*rate)]
}

// TestShortWords measures single words of at most 700 ms: after a sentence and silence, and over the agent's words.
func TestShortWords(t *testing.T) {
	t.Parallel()
	const at = 9 * rate // the agent's answer lasts from 3.5 to 6.5 s
	for position, set := range wordsOf(t) {
		t.Run(set.name, func(t *testing.T) {
			t.Parallel()
			earlier := sentence(t)
			var loud, soft, noisy, batch, partials counts
			var silent []time.Duration
			for _, u := range set.words {
				words := shifted(u.words, at)
				for _, c := range []struct {
					*counts
					level, noise float64
				}{{&loud, -16, -65}, {&soft, -28, -65}, {&noisy, -20, -40}} {
					_, complete := answers(t, u.said(earlier, at, 13*rate, c.level, sounds.White(c.noise)), words, u.language)
					c.add(when(complete, "heard"))
					if !complete {
						t.Logf("%s %s (%d ms) at %.0f dBFS, noise %.0f, is lost", u.speaker, u.words[0].text, len(u.samples)*1000/rate, c.level, c.noise)
					}
				}
				for _, c := range []struct {
					*counts
					engines
				}{{&batch, engines{final: 150 * time.Millisecond}}, {&partials, engines{final: 150 * time.Millisecond, partial: 200 * time.Millisecond}}} {
					r := simulate(t, scene{
						audio: u.said(nil, soundAt, 10*rate, -16, sounds.White(-65)), words: shifted(u.words, soundAt), network: true, opening: reading,
						engines: c.engines, config: conversation.Config{Language: u.language},
					})
					c.add(when(r.cut(), "cut"))
					if after, ok := r.silentAfter(soundAt); ok && r.cut() {
						silent = append(silent, after)
					} else {
						t.Logf("%s %s (%d ms) does not stop the agent", u.speaker, u.words[0].text, len(u.samples)*1000/rate)
					}
				}
			}
			cells := []string{
				set.name, loud.percent("heard"), soft.percent("heard"), noisy.percent("heard"), batch.percent("cut"), partials.percent("cut"), millis(silent),
			}
			addRow(wordSection, position, cells...)
			t.Logf("%d words: %v", len(set.words), cells)
			atLeast(t, "heard after silence", loud.share("heard"), 100, 0)
			atLeast(t, "soft words heard", soft.share("heard"), 100, 6.5)
			atLeast(t, "words that stop the agent", batch.share("cut"), 100, 6.5)
		})
	}
}

// TestSoundsAfterSilence measures which sounds without words the agent takes for an answer.
func TestSoundsAfterSilence(t *testing.T) {
	t.Parallel()
	for position, over := range soundsOver(t, load(t))[1:4] {
		t.Run(over.name, func(t *testing.T) {
			t.Parallel()
			var n counts
			for _, sound := range over.sounds {
				audio := make([]int16, 13*rate)
				copy(audio[rate/2:], sentence(t))
				copy(audio[9*rate:], sound)
				turn, _ := answers(t, sounds.Mix(audio, sounds.White(-65)), nil, "en")
				n.add(when(turn, "turn"))
			}
			addRow(wordSection, 20+position, over.name+", taken for an answer", n.percent("turn"), "-", "-", "-", "-", "-")
			t.Logf("taken for an answer: %s %%", n.percent("turn"))
			atMost(t, "taken for an answer", n.share("turn"), 0, 0)
		})
	}
}
