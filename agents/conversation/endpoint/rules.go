package endpoint

import (
	"bytes"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/agents/conversation/words"
	"github.com/callwright/callwright/speech/intonation"
)

// Rules judges by the words of a language, by punctuation, intonation, numbers, the expected answer, the recognizer's probability and the
// caller's pauses. It implements conversation.TurnDetector. The zero value is ready to use.
type Rules struct{}

// class is the row of a turn in the table of waits.
type class uint8

const (
	unknownWords class = iota
	noWords
	answeredQuestion
	expectedPhrase
	closingWords
	punctuated
	plain
	openSentence
	perhapsUnfinished
	surelyUnfinished
	hesitating
	completeValue
	completeDate
	shortNumber
	longNumber
	numberPart
	spelledPart
	datePart
	valuePart
	addressPart
	unreadNumber
	levelAnswer
	levelPlain
	fallenPerhaps
	fallenUnfinished
)

// waits is the table of all waits in milliseconds. human marks waits that become longer for a caller with long pauses.
var waits = [...]struct {
	likely, final int
	why           Reason
	human         bool
}{
	unknownWords:      {0, 0, Unknown, false},          // the longest wait: the answer needs the words
	noWords:           {400, 400, NoWords, false},      // nothing to answer: listen for the next voice soon
	answeredQuestion:  {150, 350, Answered, false},     // few callers add anything to a plain yes
	expectedPhrase:    {150, 400, Answered, true},      // exactly the words that the agent has asked for
	closingWords:      {150, 400, Finished, false},     // callers seldom continue after "thank you"
	punctuated:        {150, 500, Finished, true},      // recognizers end sentences too early at times
	plain:             {150, 680, Plain, true},         // a compromise: 31 % of the pauses within sentences are longer
	openSentence:      {700, 1400, Open, true},         // 5 % of the pauses are longer
	perhapsUnfinished: {800, 1300, Unfinished, true},   // "what is it for": few such turns end here
	surelyUnfinished:  {2000, 2000, Unfinished, true},  // 1 % of the pauses are longer
	hesitating:        {2000, 2000, Hesitation, false}, // the caller is thinking, and knows that the pause is long
	completeValue:     {150, 300, Answered, false},     // all digits of the number, or the domain of the e-mail address
	completeDate:      {200, 600, Answered, true},      // a time may follow the day
	shortNumber:       {300, 1000, Number, true},       // one or two digits: a quantity, or the beginning of a number
	longNumber:        {300, 900, Number, false},       // a plausible length, but some numbers are longer
	numberPart:        {2000, 2000, Number, false},     // groups of digits are up to 1.2 s apart
	spelledPart:       {1600, 1600, Incomplete, false}, // the next letter
	datePart:          {500, 1200, Incomplete, true},   // the year after day and month
	valuePart:         {2000, 2000, Incomplete, false}, // callers say an e-mail address in parts
	addressPart:       {500, 1300, Incomplete, true},   // street, number, postal code and city
	unreadNumber:      {500, 1300, Incomplete, true},   // digits that the recognizer has misheard, or that the rules cannot read
	levelAnswer:       {300, 700, Intonation, true},    // "no, that was my sister"
	levelPlain:        {500, 1200, Intonation, true},   // 1 to 10 % of the sentences end in the middle of the voice's pitch
	fallenPerhaps:     {500, 1000, Intonation, true},   // "what is it for"
	fallenUnfinished:  {500, 1300, Intonation, true},   // some sentences end with "if you can"
}

// Judge returns how long to wait. It is a pure function of e, and usually allocates no memory.
func (Rules) Judge(e Evidence) Wait {
	least, longest := e.Least, e.Longest
	if least <= 0 {
		least = DefaultLeast
	}
	if longest <= 0 {
		longest = DefaultLongest
	}
	longest = max(longest, least)
	if !e.Known {
		return Wait{Likely: longest, Final: longest, Why: Unknown}
	}
	row := waits[byContour(classify(e), e.Contour)]
	w := Wait{
		Likely: time.Duration(row.likely) * time.Millisecond,
		Final:  time.Duration(row.final) * time.Millisecond,
		Why:    row.why,
	}
	if row.human {
		w.Final = time.Duration(patience(e.Pauses) * float64(w.Final)).Truncate(10 * time.Millisecond)
	}
	w = byEngine(w, e.EndOfTurn)
	w.Final = min(max(w.Final, least), longest)
	w.Likely = min(w.Likely, w.Final)
	return w
}

// tail is the maximum number of bytes at the end of a text that the rules for endings read.
const tail = 160

// classify returns the class of a turn whose words are known.
func classify(e Evidence) class {
	var buf [2 * tail]byte
	text := bytes.TrimSuffix(words.AppendFold(buf[:0], lastBytes(e.Text)), []byte(" "))
	if len(text) == 0 {
		return noWords
	}
	if len(e.Text) <= tail && expects(e.Phrases, text) {
		return expectedPhrase
	}
	l := lexiconOf(e.Language)
	if len(e.Text) <= tail && l.isAnswer(text) {
		if e.Expect.Kind == expect.YesNo || strings.ContainsAny(e.Asked, "?？؟") {
			return answeredQuestion
		}
		return closingWords
	}
	last := l.ending(text)
	if last != finished {
		if c, ok := value(e, l, text); ok {
			return c
		}
	}
	return expected(e, sentence(e, clause(e, l, text, last)))
}

// clause corrects the ending of a text by the words of its last clause.
func clause(e Evidence, l *lexicon, text []byte, last ending) ending {
	switch {
	case (last == perhaps || last == unfinished) && l.verbLast(text):
		return anyEnding
	case last == anyEnding && len(e.Text) <= tail && l.isSubject(text):
		return perhaps
	default:
		return last
	}
}

// expected corrects the class of a text by what the agent has asked for.
func expected(e Evidence, c class) class {
	switch {
	case e.Expect.Kind == expect.Address && (c == plain || c == punctuated):
		return addressPart
	case e.Expect.Kind == expect.Digits && c == plain && expect.DigitsIn(e.Language, e.Text) == "":
		return unreadNumber
	default:
		return c
	}
}

// sentence returns the class of a text by its last words and its punctuation.
func sentence(e Evidence, last ending) class {
	end := lastMark(e)
	switch last {
	case unfinished:
		return surelyUnfinished
	case hesitation:
		return hesitating
	case perhaps:
		if end != closing {
			return perhapsUnfinished
		}
	case finished:
		if end != pausing {
			return closingWords
		}
	case anyEnding:
	}
	switch {
	case end == closing:
		return punctuated
	case end == pausing || end == noMark && punctuates(e.Text):
		return openSentence
	default:
		return plain
	}
}

// byContour returns the class of a turn that also considers the end of the caller's pitch.
func byContour(c class, contour intonation.Contour) class {
	switch contour {
	case intonation.Level:
		switch {
		case c == plain:
			return levelPlain
		case c == answeredQuestion || c == closingWords:
			return levelAnswer
		}
	case intonation.Falling:
		if fallen := afterFall[c]; fallen != unknownWords {
			return fallen
		}
	case intonation.Unknown, intonation.Rising: // a question, a list, or excitement
	}
	return c
}

// afterFall contains the classes of turns whose pitch falls at the end, if they are others.
var afterFall = [len(waits)]class{
	perhapsUnfinished: fallenPerhaps, surelyUnfinished: fallenUnfinished,
}

// expects reports whether a folded text is one of the expected phrases.
func expects(phrases []string, text []byte) bool {
	for _, p := range phrases {
		var buf [2 * tail]byte
		if len(p) <= tail && bytes.Equal(bytes.TrimSuffix(words.AppendFold(buf[:0], p), []byte(" ")), text) {
			return true
		}
	}
	return false
}

// lastBytes returns the last words of a text, of at most tail bytes.
func lastBytes(text string) string {
	if len(text) <= tail {
		return text
	}
	text = text[len(text)-tail:]
	return text[strings.IndexByte(text, ' ')+1:]
}

// mark classifies the punctuation at the end of a text.
type mark uint8

const (
	noMark    mark = iota
	closing        // the end of a sentence
	anyPeriod      // a period that is no evidence
	pausing        // a comma, a dash or an ellipsis
)

// lastMark returns the punctuation at the end of a turn's text.
func lastMark(e Evidence) mark {
	text := strings.TrimRight(e.Text, " \t\n\"'”’»)")
	if strings.HasSuffix(text, "..") || strings.HasSuffix(text, "…") {
		return pausing
	}
	r, _ := utf8.DecodeLastRuneInString(text)
	switch {
	case e.Forced && (r == '.' || r == '。'):
		return anyPeriod
	case strings.ContainsRune(".!?。！？؟", r):
		return closing
	case strings.ContainsRune(",;:-–—،、，", r):
		return pausing
	default:
		return noMark
	}
}

// punctuates reports whether a text shows that its recognizer writes punctuation: it contains some, or only its first letters are capital.
func punctuates(text string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, " \"'“‘«(¿¡"))
	return unicode.IsUpper(first) && strings.ContainsFunc(text, unicode.IsLower) || strings.ContainsAny(text, ",.?!")
}

// The limits of the recognizer's probability. Between them the words decide alone.
const (
	surelyOver = 0.8
	surelyOpen = 0.2
)

// The waits that the recognizer's probability can cause. The probability of a good engine is wrong for some turns in a hundred.
const (
	overWait = 400 * time.Millisecond
	openWait = 1200 * time.Millisecond
)

// byEngine returns a wait that also weighs the recognizer's probability. It does not contradict words that call for more.
func byEngine(w Wait, probability float64) Wait {
	switch {
	case probability >= surelyOver && (w.Why == Plain || w.Why == Open) && w.Final > overWait:
		return Wait{min(w.Likely, 150*time.Millisecond), overWait, Engine}
	case probability > 0 && probability <= surelyOpen && (w.Why == Plain || w.Why == Finished) && w.Final < openWait:
		return Wait{max(w.Likely, 500*time.Millisecond), openWait, Engine}
	default:
		return w
	}
}

// The pause of a usual caller, and the number of pauses of this caller that weigh as much as it.
const (
	usualPause  = 500 * time.Millisecond
	usualWeight = 4
)

// patience returns the factor of the waits for a caller: the mean of this caller's latest pauses relative to usualPause, from 1 to 1.6.
func patience(pauses []time.Duration) float64 {
	pauses = pauses[max(0, len(pauses)-16):]
	sum := usualWeight * usualPause
	for _, p := range pauses {
		sum += p
	}
	mean := sum / time.Duration(usualWeight+len(pauses))
	return min(max(float64(mean)/float64(usualPause), 1), 1.6)
}
