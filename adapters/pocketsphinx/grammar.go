package pocketsphinx

import (
	"fmt"
	"slices"
	"strings"
)

// A grammar is a finite-state machine that reads words. From its start it reads any one phrase to its end, and may then return to the
// start. If a consent is expected, it may read a competitor instead of a phrase. In both states it may also read single phones, called loose phones, and it may skip
// from the start to the end. It can therefore read any speech: competitors, and the number of loose phones, show that speech matched no
// phrase.
//
// The probabilities were measured without competitors, with two flite voices over G.711 and nineteen sentences of one to twelve words, of which every second one
// was a hint. 37 of 38 hinted utterances were recognized, and none of the 38 others was taken for a hint.
const (
	loosePhone = 0.007 // probability of a loose phone; at 0.005, other speech is taken for hints
	again      = 0.1   // probability that another phrase follows
	// maxLoose is the maximum number of loose phones in an utterance that is still a phrase: a breath, a click, an "uh".
	maxLoose = 3
)

// These prefixes mark loose phones, the words of competitors, and hesitations in the lexicon. No word of the dictionary contains them.
const (
	loosePrefix      = "++"
	competitorPrefix = "--"
	hesitationPrefix = "~~"
)

// phraseLexicon returns the lexicon of the phrases' words, of the competitors, of the hesitations and of the loose phones.
func (d dictionary) phraseLexicon(phrases []phrase) string {
	var words []string
	for _, p := range phrases {
		words = append(words, p.words...)
	}
	var b strings.Builder
	b.WriteString(d.lexicon("", words, nil))
	b.WriteString(d.lexicon(competitorPrefix, strings.Fields(strings.Join(competitors, " ")), nil))
	b.WriteString(d.lexicon(hesitationPrefix, hesitations, nil))
	for _, phone := range d.phones {
		fmt.Fprintf(&b, "%s%s %s\n", loosePrefix, phone, phone)
	}
	return b.String()
}

// lexicon lists the pronunciations of words, and their further pronunciations, one per line, in the format of readDictionary. It writes the
// prefix before each word.
func (d dictionary) lexicon(prefix string, words []string, further map[string][]string) string {
	var b strings.Builder
	for _, word := range slices.Compact(slices.Sorted(slices.Values(words))) {
		for i, way := range slices.Concat(d.pronounce(word), further[word]) {
			if i == 0 {
				fmt.Fprintf(&b, "%s%s %s\n", prefix, word, way)
			} else {
				fmt.Fprintf(&b, "%s%s(%d) %s\n", prefix, word, i+1, way)
			}
		}
	}
	return b.String()
}

// grammar returns the state machine in the FSG format of Sphinx, with competitors if competes is set. State 0 is the start and state 1 the end.
func (d dictionary) grammar(phrases []phrase, competes bool) string {
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
	branch := func(prefix string, words []string, probability float64) {
		at := 0
		for i, word := range words {
			to := 1
			if i < len(words)-1 {
				to, next = next, next+1
			}
			move(at, to, probability, prefix+word)
			at, probability = to, 1
		}
	}
	share := 1 / float64(len(phrases))
	for _, p := range phrases {
		branch("", p.words, share)
	}
	if competes {
		for _, competitor := range competitors {
			branch(competitorPrefix, strings.Fields(competitor), competition*share)
		}
		for _, sound := range hesitations {
			branch(hesitationPrefix, []string{sound}, competition*share)
		}
	}
	return fmt.Sprintf("FSG_BEGIN phrases\nNUM_STATES %d\nSTART_STATE 0\nFINAL_STATE 1\n%sFSG_END\n", next, &b)
}

// understood converts the grammar's result to a text: a single phrase as written in the hint, several phrases as their words. It returns an
// empty text if the result contains a competitor or more than maxLoose loose phones.
func understood(read string, phrases []phrase) string {
	var words []string
	loose := 0
	for word := range strings.FieldsSeq(read) {
		switch {
		case strings.HasPrefix(word, competitorPrefix):
			return ""
		case strings.HasPrefix(word, loosePrefix):
			loose++
		case !strings.HasPrefix(word, hesitationPrefix):
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
