package tts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a chunk, in bytes. The first chunk may end at a clause, so that the answer starts early. Later chunks are whole
// sentences, which sound better and are synthesized while others play.
const (
	firstClause  = 24  // the shortest clause that is spoken before its sentence is complete
	longestChunk = 280 // a longer sentence is cut at a clause or a space
)

// Chunker cuts streamed text, such as a model's, into chunks to speak: sentences, and for a quick start the first clause. The zero
// value is ready. A language model's answer needs one Chunker.
type Chunker struct {
	WholeSentences bool // the first chunk is a whole sentence, too

	text    string
	started bool // the first chunk is out
}

// Write takes the next piece of the text and returns the chunks that it completes. Only white space around chunks is dropped.
func (c *Chunker) Write(piece string) []string {
	c.text += piece
	var out []string
	for {
		end := c.boundary()
		if end < 0 {
			return out
		}
		out = c.cut(out, end)
	}
}

// Flush ends the text and returns the rest. The Chunker can then be used for another text.
func (c *Chunker) Flush() []string {
	out := c.cut(nil, len(c.text))
	c.started = false
	return out
}

// cut removes the text up to end and appends it to out as a chunk.
func (c *Chunker) cut(out []string, end int) []string {
	chunk := strings.TrimSpace(c.text[:end])
	c.text = strings.TrimLeftFunc(c.text[end:], unicode.IsSpace)
	if chunk == "" {
		return out
	}
	c.started = true
	return append(out, chunk)
}

// boundary returns the end of the first chunk; -1 if it is unknown yet.
func (c *Chunker) boundary() int {
	clause, blank, open := -1, -1, -1
	for i, r := range c.text {
		next := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			next = i + 1
		}
		switch {
		case r == '\n':
			return next
		case strings.ContainsRune("。！？", r):
			return next
		case strings.ContainsRune(".!?…", r) && next > open:
			end := closed(c.text, next)
			switch {
			case end > longestChunk || !blankAt(c.text, end):
				open = end // and so do the other marks of the row
			case r != '.' || !abbreviated(c.text[:i]):
				return end
			}
		case strings.ContainsRune(",;:—", r) && blankAt(c.text, next):
			if !c.started && !c.WholeSentences && i >= firstClause {
				return next
			}
			clause = next
		case unicode.IsSpace(r):
			blank = i
		}
		if next > longestChunk {
			return longCut(clause, blank, next)
		}
	}
	return -1
}

// closed returns the end of the row of marks, closing quotes and brackets at i. It closes a sentence if white space follows, which
// may come with more text. A row that is longer than a chunk ends beyond longestChunk.
func closed(text string, i int) int {
	for i < len(text) && i <= longestChunk {
		q, size := utf8.DecodeRuneInString(text[i:])
		if !strings.ContainsRune(".!?…\"'”’»)]", q) {
			break
		}
		i += size
	}
	return i
}

// blankAt reports whether the character at i is white space.
func blankAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return i < len(s) && unicode.IsSpace(r)
}

// longCut returns the offset at which to cut a sentence that is too long.
func longCut(clause, blank, here int) int {
	switch {
	case clause > longestChunk/2:
		return clause
	case blank > 0:
		return blank
	default:
		return here
	}
}

// abbreviations that have a full stop and a word after it, in lower case.
var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "sr": true, "jr": true, "vs": true,
	"e.g": true, "i.e": true, "approx": true, "dept": true, "ext": true, "no": true, "nr": true, "inc": true, "ave": true,
	"z.b": true, "bzw": true, "hr": true, "fr": true, "sra": true, "mme": true,
}

// abbreviated reports whether the full stop after the text belongs to its last word: a known abbreviation or an initial. "No." is
// one only before a number, but "No. 5" is rare on the phone and "No." common: it counts as one only after a word.
func abbreviated(before string) bool {
	at := strings.LastIndexFunc(before, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("(\"“'", r) })
	word := before[at+1:]
	if strings.EqualFold(word, "no") {
		return at > 0 && word[0] == 'N' && !strings.HasSuffix(strings.TrimSpace(before[:at]), ".")
	}
	if utf8.RuneCountInString(word) == 1 {
		r, _ := utf8.DecodeRuneInString(word)
		return unicode.IsUpper(r) && word != "I"
	}
	return abbreviations[strings.ToLower(word)]
}
