package agentstest

import (
	"math"
	"strings"
	"unicode"

	"github.com/callwright/callwright/speech/tts"
)

// The voice of tests is a sound that a voice activity detector classifies as speech. It encodes characters up to U+7FFF exactly, so that
// TextOf can decode them one by one. A phone can decode them even if the voice is up to 13 dB softer, its gain changes linearly, or it is faded
// in within the first 10 ms of a character. A cut at any sample destroys at most one character. Codecs and resamplers destroy the text.
const (
	charMillis = 60     // duration of each character
	mark       = 12_345 // mark, -mark and both bytes of the character are a character's first samples; the sound stays below mark
	softest    = mark / 4.5
	fadeMillis = 10 // duration of a fade-in
	copyPart   = 4  // a quarter of a character precedes the copy of its first samples, with the opposite sign of the mark
	byteStep   = 96 // difference between the samples of consecutive bytes
	loudness   = 5_000
	pitch      = 150 // Hz
)

// Voice returns the audio of a text: 60 ms for each character. A space is silent except for its four marking samples.
func Voice(text string, rate int) []int16 {
	block := rate * charMillis / 1000
	out := make([]int16, 0, len(text)*block)
	for _, r := range text {
		start := len(out)
		for i := range block {
			out = append(out, tone(r, start+i, rate))
		}
		r = min(r, math.MaxInt16)
		for sign, at := range map[int16]int{1: start, -1: start + block/copyPart} {
			out[at], out[at+1], out[at+2], out[at+3] = sign*mark, -sign*mark, byteStep*int16(r>>8), byteStep*int16(r&0xFF)
		}
	}
	return out
}

// VoiceMarks returns the marks of the words in the Voice of a text: runs of letters and digits.
func VoiceMarks(r tts.Request) (marks []tts.Mark) {
	block := r.Rate * charMillis / 1000
	within := false
	for i, char := range []rune(r.Text) {
		starts := !within
		if within = unicode.IsLetter(char) || unicode.IsDigit(char); !within {
			continue
		}
		if starts {
			marks = append(marks, tts.Mark{From: i, Start: i * block})
		}
		last := &marks[len(marks)-1]
		last.To, last.End = i+1, (i+1)*block
	}
	return marks
}

// tone returns sample i of the sound of r: silence for a space, otherwise a buzz with harmonics. The harmonics differ between letters, as
// between vowels.
func tone(r rune, i, rate int) int16 {
	if r == ' ' {
		return 0
	}
	t := 2 * math.Pi * pitch * float64(i) / float64(rate)
	bright := float64(r%5)/10 + 0.1
	v := math.Sin(t) + 0.7*math.Sin(2*t) + 0.5*math.Sin(4*t) + bright*math.Sin(7*t)
	return int16(loudness * v / 2.5)
}

// TextOf decodes the text of audio by Voice. It omits characters whose first samples were cut off, skips silence, and trims spaces at both
// ends.
func TextOf(samples []int16) string { return textOf(samples, mark, 0) }

// playedText does the same as TextOf, for a voice whose gain is at least softest/mark, and which may be faded in.
func playedText(samples []int16, rate int) string { return textOf(samples, softest, rate) }

// fadedIn reports whether a character whose copy begins at a position was faded in from its first sample on.
func fadedIn(samples []int16, at, rate int) bool {
	start := at - rate*charMillis/1000/copyPart
	if start < 0 {
		return false
	}
	second := -float64(samples[start+1]) * float64(fadeMillis*rate) / 1000 // the gain of the second sample grows by this factor
	return samples[start] == 0 && second > softest*0.9 && second < mark*1.1
}

// textOf does the same as TextOf, for a voice whose gain is at least quietest/mark. With a rate, it also decodes characters that are faded in.
func textOf(samples []int16, quietest float64, rate int) string {
	var b strings.Builder
	for i := 0; i+3 < len(samples); i++ {
		first, second := float64(samples[i]), -float64(samples[i+1])
		if rate > 0 && first < 0 && fadedIn(samples, i, rate) {
			first, second = -first, -second
		}
		if min(first, second) < quietest || max(first, second) > mark || math.Abs(first-second) > first/20 {
			continue
		}
		decode := func(at int) rune {
			gain := (first + (second-first)*float64(at)) / mark
			return rune(math.Round(float64(samples[i+at]) / gain / byteStep))
		}
		b.WriteRune(decode(2)<<8 | decode(3))
		i += 3
	}
	return strings.TrimSpace(b.String())
}
