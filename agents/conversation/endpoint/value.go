package endpoint

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright/agents/conversation/expect"
)

// value returns the class of a turn that ends in a number, in letters, or in another expected value, and whether it does. text is the folded
// end of e.Text.
func value(e Evidence, l *lexicon, text []byte) (class, bool) {
	switch {
	case e.Expect.Kind == expect.Email || strings.Contains(e.Text, "@"):
		return email(e, l, text)
	case e.Expect.Kind == expect.Date:
		return date(e, l, text)
	case expect.IsNumber(e.Language, string(lastWord(text))) && e.Expect.Kind != expect.Spelling:
		return number(e)
	}
	if letters := trailingLetters(text); e.Expect.Kind == expect.Spelling && letters > 0 || letters > 2 {
		return counted(letters, e.Expect, spelledPart), true
	}
	return 0, false
}

// number returns the class of a text that ends in a number.
func number(e Evidence) (class, bool) {
	trailing := len(expect.TrailingDigits(e.Language, e.Text))
	switch {
	case trailing == 0:
		return 0, false
	case e.Expect.Kind == expect.Digits && e.Expect.Max > 0:
		return counted(len(expect.DigitsIn(e.Language, e.Text)), e.Expect, numberPart), true
	case trailing < 3 && e.Expect.Kind != expect.Digits: // "a table for two" is more frequent than the beginning of a long number
		return shortNumber, lastMark(e) != closing
	case 10 <= trailing && trailing <= 12 || trailing >= 16: // lengths of telephone numbers, and of card numbers and IBANs
		return longNumber, true
	default:
		return numberPart, true
	}
}

// counted returns the class of an answer that has a number of digits or letters. part is the class of an answer that is too short.
func counted(n int, answer expect.Answer, part class) class {
	switch {
	case answer.Max > 0 && n >= answer.Max:
		return completeValue
	case answer.Min > 0 && n >= answer.Min:
		return longNumber
	default:
		return part
	}
}

// trailingLetters returns the number of single letters and digits at the end of a folded text.
func trailingLetters(text []byte) int {
	n := 0
	for len(text) > 0 {
		word := lastWord(text)
		if utf8.RuneCount(word) != 1 {
			break
		}
		n++
		text = bytes.TrimSuffix(text[:len(text)-len(word)], []byte(" "))
	}
	return n
}

// email returns the class of a turn that may contain an e-mail address. The address is complete if a domain such as ".com" ends it, written
// or spoken ("dot com").
func email(e Evidence, l *lexicon, text []byte) (class, bool) {
	if at := strings.LastIndexByte(e.Text, '@'); at >= 0 {
		dot := strings.LastIndexByte(strings.TrimRight(e.Text, ".,!?; "), '.')
		return pick(dot > at, completeValue, valuePart), true
	}
	last := lastWord(text)
	before := lastWord(bytes.TrimSuffix(text[:len(text)-len(last)], []byte(" ")))
	return pick(l.sets["[dot]"][string(before)] && utf8.RuneCount(last) > 1, completeValue, valuePart), true
}

// date returns the class of a turn that answers the question for a date or a time. A day such as "tomorrow" or "Monday" is complete, as is a
// date with a year.
func date(e Evidence, l *lexicon, text []byte) (class, bool) {
	last := lastWord(text)
	switch {
	case l.sets["[day]"][string(last)]:
		return completeDate, true
	case l.sets["[month]"][string(last)]:
		return datePart, true
	case !expect.IsNumber(e.Language, string(last)):
		return 0, false
	}
	digits := len(expect.TrailingDigits(e.Language, e.Text))
	return pick(digits == 4 || digits >= 6, completeDate, datePart), true
}

// lastWord returns the last word of a folded text.
func lastWord(text []byte) []byte { return text[wordBefore(text, len(text)):] }

func pick(first bool, a, b class) class {
	if first {
		return a
	}
	return b
}
