package pocketsphinx

import (
	"fmt"
	"slices"
	"strings"
)

// A grammar is a machine that reads words: from its start through any one phrase to its end, from where it may start
// again. In both states it may also read single phones, as words of their own, and from the start it may skip to the
// end: so anything at all can be read, and the number of loose phones shows the share that was no phrase.
//
// The numbers were measured with two flite voices over G.711, nineteen sentences of one to twelve words of which every
// second one was a hint: 37 of 38 utterances that were hinted at are recognized, none of 38 others is taken for a hint.
const (
	loosePhone = 0.007 // probability of a loose phone; with 0.005 other speech is taken for hints
	again      = 0.1   // probability of a second phrase
	// maxLoose is the maximum of loose phones before and after a phrase: a breath, a click, an "uh".
	maxLoose = 3
)

// loosePrefix marks loose phones. No word of the dictionary has such characters.
const loosePrefix = "++"

// lexicon lists the pronunciations of the words in the grammar, one a line, in the form of readDictionary.
func (d dictionary) lexicon(phrases []phrase) string {
	var b strings.Builder
	var words []string
	for _, p := range phrases {
		words = append(words, p.words...)
	}
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		for i, way := range d.pronounce(word) {
			if i == 0 {
				fmt.Fprintf(&b, "%s %s\n", word, way)
			} else {
				fmt.Fprintf(&b, "%s(%d) %s\n", word, i+1, way)
			}
		}
	}
	for _, phone := range d.phones {
		fmt.Fprintf(&b, "%s%s %s\n", loosePrefix, phone, phone)
	}
	return b.String()
}

// grammar writes the machine in the format of Sphinx: states are numbers, 0 the start and 1 the end.
func (d dictionary) grammar(phrases []phrase) string {
	var b strings.Builder
	next := 2
	move := func(from, to int, probability float64, word string) {
		fmt.Fprintf(&b, "TRANSITION %d %d %g %s\n", from, to, probability, word)
	}
	move(0, 1, 1, "")
	move(1, 0, again, "")
	for _, phone := range d.phones {
		move(0, 0, loosePhone, loosePrefix+phone)
		move(1, 1, loosePhone, loosePrefix+phone)
	}
	for _, p := range phrases {
		at, probability := 0, 1/float64(len(phrases))
		for i, word := range p.words {
			to := 1
			if i < len(p.words)-1 {
				to, next = next, next+1
			}
			move(at, to, probability, word)
			at, probability = to, 1
		}
	}
	return fmt.Sprintf("FSG_BEGIN phrases\nNUM_STATES %d\nSTART_STATE 0\nFINAL_STATE 1\n%sFSG_END\n", next, &b)
}

// understood turns the grammar's result into a text: one phrase as in the hint, several phrases as their words, nothing when
// too much was none of them.
func understood(read string, phrases []phrase) string {
	var words []string
	loose := 0
	for word := range strings.FieldsSeq(read) {
		if strings.HasPrefix(word, loosePrefix) {
			loose++
		} else {
			words = append(words, word)
		}
	}
	if loose > maxLoose {
		return ""
	}
	for _, p := range phrases {
		if slices.Equal(p.words, words) {
			return p.text
		}
	}
	return strings.Join(words, " ")
}
