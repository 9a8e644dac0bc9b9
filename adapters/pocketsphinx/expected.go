package pocketsphinx

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/conversation/expect"
)

// A loop is a grammar of an expected answer: an introduction such as "um, my number is", and then the words of the answer, in any order. It
// reads any speech as such an answer. The dictation of the same speech shows how likely that is: the answer counts only if its score
// exceeds the score of the dictation.
type loop struct {
	words  map[string]float64 // probability of each word of the answer
	single float64            // replaces advantage for answers of one word
}

// advantage is the minimum difference of the scores of the expected answer and of the dictation, per frame of 10 ms. An answer with a
// smaller difference is not believed.
const advantage = 3.0

// The probabilities of loops.
const (
	nextWord    = 0.07 // probability that another word of the answer follows
	leadingWord = 0.01 // probability of each word of an introduction
)

// The words of loops. A word of "rare" sets is much less likely than the others.
const (
	digitWords  = "zero oh one two three four five six seven eight nine"
	repeatWords = "double triple"
	letterWords = "a b c d e f g h i j k l m n o p q r s t u v w x y z zed"
	natoWords   = "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra " +
		"tango uniform victor whiskey x-ray yankee zulu"
	namingWords = "as in like for" // "b as in bravo"
	tenWords    = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty"
	monthWords  = "january february march april may june july august september october november december"
	dayWords    = "monday tuesday wednesday thursday friday saturday sunday today tomorrow tonight yesterday"
	orderWords  = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth " +
		"sixteenth seventeenth eighteenth nineteenth twentieth thirtieth"
	timeWords  = "o'clock a.m. p.m. morning afternoon evening noon midnight half quarter past next week the of at in on"
	emailWords = "at dot dash underscore gmail hotmail yahoo outlook com org net"
	pauseWords = "um uh and"
)

// loops contains the loop of each kind that has one.
//
// The values of digits were measured over G.711 with 149 numbers of one to ten digits, and with 97 sentences without digits, in six
// synthetic voices and a recorded one: of the digits of numbers, 18 percent are wrong, and 14 sentences are read as digits, most of which
// dictation does not understand either.
var loops = map[expect.Kind]loop{
	expect.Digits:   newLoop(0, digitWords, pauseWords+" "+repeatWords),
	expect.Spelling: newLoop(0, letterWords, pauseWords+" "+digitWords+" "+repeatWords+" "+natoWords+" "+namingWords),
	expect.Email:    newLoop(advantage, letterWords+" "+emailWords, digitWords+" "+repeatWords+" "+natoWords+" "+namingWords),
	expect.Date:     newLoop(advantage, digitWords+" "+tenWords+" "+monthWords+" "+dayWords+" "+orderWords+" "+timeWords, pauseWords),
}

// consents are phrases for expect.YesNo.
var consents = []string{
	"yes", "yes please", "yeah", "yep", "sure", "okay", "of course", "absolutely", "correct", "that's correct", "that's right", "right",
	"I do", "yes I do", "it is", "yes it is", "yes that's right", "go ahead", "no", "no thanks", "no thank you", "nope", "not really", "I don't",
	"no I don't", "it isn't", "that's wrong", "that's not right", "not yet",
}

// newLoop returns a loop of words that are equally likely, and of rare words.
func newLoop(single float64, frequent, rare string) loop {
	l := loop{words: map[string]float64{}, single: single}
	for word := range strings.FieldsSeq(rare) {
		l.words[word] = 0.015
	}
	words := strings.Fields(frequent)
	for _, word := range words {
		l.words[word] = 1 / float64(len(words))
	}
	return l
}

// The states of a loop's grammar.
const (
	loopStart  = iota // fillers and interjections
	loopMy            // after "my"
	loopNumber        // before "is"
	loopAnswer        // before the first word of the answer
	loopFinal         // after a word of the answer
	loopStates
)

// introduction lists the transitions before an answer.
var introduction = []struct {
	from, to int
	words    string
}{
	{loopStart, loopStart, "um uh er okay yes yeah sure well"},
	{loopStart, loopAnswer, "it's that's and"},
	{loopStart, loopNumber, "it"},
	{loopStart, loopMy, "my the"},
	{loopMy, loopNumber, "number code name date"},
	{loopNumber, loopAnswer, "is"},
}

// introduces reports whether a word may be part of an introduction.
func introduces(word string) bool {
	for _, step := range introduction {
		if slices.Contains(strings.Fields(step.words), word) {
			return true
		}
	}
	return false
}

// grammar returns the state machine in the FSG format of Sphinx, and its words.
func (l loop) grammar() (fsg string, words []string) {
	var b strings.Builder
	move := func(from, to int, probability float64, word string) {
		fmt.Fprintf(&b, "TRANSITION %d %d %g %s\n", from, to, probability, word)
	}
	move(loopStart, loopAnswer, 1, "")
	for _, step := range introduction {
		for word := range strings.FieldsSeq(step.words) {
			move(step.from, step.to, leadingWord, word)
			words = append(words, word)
		}
	}
	for _, word := range slices.Sorted(maps.Keys(l.words)) {
		move(loopAnswer, loopFinal, l.words[word], word)
		move(loopFinal, loopFinal, l.words[word]*nextWord, word)
		words = append(words, word)
	}
	return fmt.Sprintf("FSG_BEGIN expected\nNUM_STATES %d\nSTART_STATE %d\nFINAL_STATE %d\n%sFSG_END\n", loopStates, loopStart, loopFinal, &b), words
}

// believes reports whether the reading of an utterance as the expected answer is believable beside its dictation.
func (l loop) believes(answer, dictated reading, frames int) bool {
	words := strings.Fields(answer.text)
	first := slices.IndexFunc(words, func(word string) bool { return l.words[word] > 0 && !introduces(word) })
	if first < 0 || dictated.text == "" {
		return false
	}
	least := advantage
	if len(words) == 1 {
		least = l.single
	}
	return float64(answer.score-dictated.score) > least*float64(frames)
}

// narrow lists pronunciations of words as a telephone transmits them, without most of their sibilants.
var narrow = map[string][]string{
	"four":  {"AO R"},
	"five":  {"AY V", "F AY"},
	"six":   {"IH K S", "S IH K", "IH K", "EY K"},
	"seven": {"EH V AH N"},
}
