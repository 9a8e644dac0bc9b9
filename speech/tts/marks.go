package tts

import "unicode"

// Mark is the place of a word in the audio of a text.
type Mark struct {
	From, To   int // the word is Request.Text[From:To], counted in runes
	Start, End int // the word's audio is samples Start to End of the stream, without End
}

// Marker is an optional interface of a Stream whose engine knows the places of the words. speechtest.RunSynthesizer tests it, and MarksOf
// calls it.
type Marker interface {
	// Marks returns the marks that are known so far, in order. The goroutine that reads the stream calls it. Later results begin with the same
	// marks, and the first result after io.EOF contains all of them. The caller must not change the result, which the stream does not change
	// either.
	//
	// A mark lies within the text and the audio, and its ranges are not empty. Neither the ranges of runes nor the ranges of samples overlap.
	// Both begin and end between words: a run of letters and digits belongs to one mark, except in scripts without spaces. Samples count at
	// Request.Rate, with the effect of the Prosody. Words that are not audible, such as a dash, have no mark. If an engine does not know the
	// place of a word, that word has no mark; if it knows none, Marks returns none.
	Marks() []Mark
}

// MarksOf returns the marks of a stream, or none if the stream is no Marker.
func MarksOf(s Stream) []Mark {
	if m, ok := s.(Marker); ok {
		return m.Marks()
	}
	return nil
}

// CleanMarks returns the marks of a text that satisfy the rules of Marker. samples is the length of the audio, or math.MaxInt if it is
// unknown. CleanMarks omits marks that are out of order or out of range. It shortens a mark at the end of the audio and at the next mark,
// and extends a mark that begins or ends within a word to the whole word.
func CleanMarks(text string, marks []Mark, samples int) []Mark {
	runes := []rune(text)
	var clean []Mark
	for _, m := range marks[:min(len(marks), len(runes))] {
		m.End = min(m.End, samples)
		if m.From < 0 || m.From >= m.To || m.To > len(runes) || m.Start < 0 || m.Start >= m.End {
			continue
		}
		for m.From > 0 && Inseparable(runes[m.From-1], runes[m.From]) {
			m.From--
		}
		for m.To < len(runes) && Inseparable(runes[m.To-1], runes[m.To]) {
			m.To++
		}
		clean = appendMark(clean, m)
	}
	return clean
}

// appendMark appends a mark to the marks before it. It omits a mark that is out of order, and joins parts of one word.
func appendMark(marks []Mark, m Mark) []Mark {
	if len(marks) == 0 {
		return append(marks, m)
	}
	last := &marks[len(marks)-1]
	switch {
	case m.From < last.From || m.Start <= last.Start:
		return marks
	case m.From < last.To:
		last.To, last.End = max(last.To, m.To), max(last.End, m.End)
		return marks
	}
	last.End = min(last.End, m.Start)
	return append(marks, m)
}

// Inseparable reports whether two consecutive characters belong to one word of a script that separates words.
func Inseparable(a, b rune) bool {
	return joined(a, b) && !unicode.In(a, unspaced...) && !unicode.In(b, unspaced...)
}

// unspaced lists the scripts that do not separate words by spaces.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}
