package flite

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/callwright/callwright/speech/tts"
)

// word is a word of a text as flite reads it, and the range of runes in the written text that it replaces.
type word struct {
	text     string
	from, to int
}

// wordsOf returns the words of a written text: the spellings between spaces.
func wordsOf(written string) (words []word) {
	at, within := 0, false
	for _, r := range written {
		for _, c := range spelled(r) {
			if c == ' ' {
				within = false
				continue
			}
			if !within {
				words, within = append(words, word{from: at}), true
			}
			w := &words[len(words)-1]
			w.text, w.to = w.text+string(c), at+1
		}
		at++
	}
	return words
}

// segment is a phone, or a pause, with its end in seconds from the beginning of the audio.
type segment struct {
	phone string
	end   float64
}

// pause is the name of segments without a phone.
const pause = "pau"

// parseSegments parses the output of -psdur: a line for each sentence, with segments such as "pau:0.218", whose ends count from the
// beginning of the sentence. It returns none for other output. length is the length of the audio in seconds: diphone voices shorten the
// pause at the end of each sentence.
func parseSegments(printed []byte, length float64) []segment {
	var sentences [][]segment
	total := 0.0
	for line := range bytes.Lines(printed) {
		var sentence []segment
		end := 0.0
		for field := range strings.FieldsSeq(string(line)) {
			phone, seconds, _ := strings.Cut(field, ":")
			v, err := strconv.ParseFloat(seconds, 64)
			if err != nil || !(v >= end && v < math.MaxInt32) {
				return nil
			}
			end = v
			sentence = append(sentence, segment{phone, v})
		}
		total += end
		sentences = append(sentences, sentence)
	}
	excess := max(0, total-length) / float64(max(len(sentences), 1))
	var all []segment
	begin := 0.0
	for _, sentence := range sentences {
		for i := range sentence {
			sentence[i].end += begin
		}
		if n := len(sentence); n > 0 {
			begin = max(begin, sentence[n-1].end-excess)
			sentence[n-1].end = begin
		}
		all = append(all, sentence...)
	}
	return all
}

// phone is a phone of a word that is spoken alone.
type phone struct {
	name string
	word int
}

// pronounce returns the phones of words that are spoken one by one, by the fastest voice. It returns none if flite fails, or reads a word as
// several sentences: the speech then has no marks.
func (s *Synthesizer) pronounce(ctx context.Context, dir string, words []word) (phones []phone) {
	var text strings.Builder
	for _, w := range words {
		text.WriteString(w.text + "\n\n")
	}
	in := filepath.Join(dir, "words")
	if err := os.WriteFile(in, []byte(text.String()), 0o600); err != nil {
		return nil
	}
	voice := s.voice
	if slices.Contains(s.voices, fastVoice) {
		voice = fastVoice
	}
	printed, err := s.program.Run(ctx, dir, "-voice", voice, "-f", in, "-o", "none", "-ps")
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(string(printed), "\n"), "\n")
	if len(lines) != len(words) {
		return nil
	}
	for i, line := range lines {
		for name := range strings.FieldsSeq(line) {
			if name != pause {
				phones = append(phones, phone{name, i})
			}
		}
	}
	return phones
}

// fastVoice is a voice that is synthesized faster than the others, with the same phones.
const fastVoice = "kal"

// marksOf returns the marks of words in audio that consists of the given segments. rate is the sample rate in Hz.
func marksOf(words []word, phones []phone, segments []segment, rate int) (marks []tts.Mark) {
	spoken := align(phones, segments)
	begin, last := 0.0, -1
	for i, number := range spoken {
		start, end := int(begin*float64(rate)), int(segments[i].end*float64(rate))
		begin = segments[i].end
		switch {
		case number < 0:
		case number == last:
			marks[len(marks)-1].End = end
		default:
			marks = append(marks, tts.Mark{From: words[number].from, To: words[number].to, Start: start, End: end})
			last = number
		}
	}
	return marks
}

// maxCells bounds the memory of an alignment, in bytes. The product of phones and segments of three minutes of speech is below it.
const maxCells = 4 << 20

// The costs of an alignment.
const (
	vowelCost = 2 // another vowel
	soundCost = 3 // another consonant
	otherCost = 6 // a consonant in place of a vowel, or a vowel in place of a consonant
	lossCost  = 2 // a phone without a segment, or a segment without a phone
	breakCost = 8 // a pause within a word
)

// The moves of an alignment.
const (
	same     = iota // a phone is the segment
	lost            // a phone has no segment
	inserted        // a segment has no phone
)

// align returns, for each segment, the number of the word that it belongs to, or -1. The phones of a word in its sentence differ from those
// of the word alone, because the sentence determines, for example, how a number is read. So align finds the cheapest alignment of both by
// their edit distance. It returns nil if there are no phones, or too many.
func align(phones []phone, segments []segment) []int {
	n, m := len(phones), len(segments)
	if n == 0 || (n+1)*(m+1) > maxCells {
		return nil
	}
	moves := make([]byte, (n+1)*(m+1))
	row := make([]int, m+1) // costs of the first i phones and the first j segments
	for i := range n + 1 {
		diagonal := row[0]
		for j := range m + 1 {
			above := row[j]
			best, move := math.MaxInt, byte(same)
			if i == 0 && j == 0 {
				best = 0
			}
			if i > 0 && j > 0 && segments[j-1].phone != pause {
				best, move = diagonal+difference(phones[i-1].name, segments[j-1].phone), same
			}
			if i > 0 && above+lossCost < best {
				best, move = above+lossCost, lost
			}
			if j > 0 {
				if cost := row[j-1] + insertion(phones, i, segments[j-1].phone); cost < best {
					best, move = cost, inserted
				}
			}
			diagonal = above
			row[j], moves[i*(m+1)+j] = best, move
		}
	}
	spoken := make([]int, m)
	for i, j := n, m; i > 0 || j > 0; {
		switch moves[i*(m+1)+j] {
		case same:
			i, j = i-1, j-1
			spoken[j] = phones[i].word
		case lost:
			i--
		default:
			j--
			spoken[j] = -1
		}
	}
	adopt(spoken, segments)
	return spoken
}

// adopt adds each sound that was inserted between words to the word before it, or else, after a pause, to the word after it.
func adopt(spoken []int, segments []segment) {
	for j := range spoken {
		if j > 0 && spoken[j] < 0 && segments[j].phone != pause && segments[j-1].phone != pause {
			spoken[j] = spoken[j-1]
		}
	}
	for j := len(spoken) - 2; j >= 0; j-- {
		if spoken[j] < 0 && segments[j].phone != pause {
			spoken[j] = spoken[j+1]
		}
	}
}

// difference returns the cost of a phone that is spoken in place of another one.
func difference(a, b string) int {
	switch vowel := isVowel(a); {
	case a == b:
		return 0
	case vowel != isVowel(b):
		return otherCost
	case vowel:
		return vowelCost
	default:
		return soundCost
	}
}

// insertion returns the cost of a segment after the first i phones. Pauses between words cost nothing.
func insertion(phones []phone, i int, segment string) int {
	switch {
	case segment != pause:
		return lossCost
	case i > 0 && i < len(phones) && phones[i-1].word == phones[i].word:
		return breakCost
	default:
		return 0
	}
}

// isVowel reports whether a phone of flite's English phone set is a vowel.
func isVowel(phone string) bool { return phone != "" && strings.IndexByte("aeiou", phone[0]) >= 0 }
