package tts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of a chunk, in bytes. The first chunk may end at a clause, so that speaking starts early. Later chunks are whole sentences,
// unless a sentence is too long: they sound better, and are synthesized while earlier chunks play.
const (
	firstClause  = 24  // minimum length of a clause that becomes the first chunk
	longestChunk = 280 // a longer sentence is split at a clause or a space
)

// Chunker splits streamed text, such as the output of a language model, into chunks to speak. A chunk is a sentence, a line, or a part of a
// very long sentence; the first chunk may be a clause, for a quick start. The zero value is ready for use. Use one Chunker per text.
type Chunker struct {
	WholeSentences bool // the first chunk is also a whole sentence

	text    string
	started bool // the first chunk has been returned
}

// Write adds the next piece of the text and returns the chunks that it completes. The chunks of all calls and of Flush together contain the
// whole text except white space between chunks.
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

// Flush ends the text and returns the remaining chunk, if any. The Chunker can then be used for another text.
func (c *Chunker) Flush() []string {
	out := c.cut(nil, len(c.text))
	c.started = false
	return out
}

// cut removes the text before the given offset, and appends it to out as a chunk unless it is blank.
func (c *Chunker) cut(out []string, end int) []string {
	chunk := strings.TrimSpace(c.text[:end])
	c.text = strings.TrimLeftFunc(c.text[end:], unicode.IsSpace)
	if chunk == "" {
		return out
	}
	c.started = true
	return append(out, chunk)
}

// boundary returns the offset at which the next chunk ends, or -1 if more text is required.
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
				open = end // the other marks of this row are not the end either
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

// closed returns the end of the row of marks, closing quotes and brackets that starts at i. The row ends a sentence only if white space
// follows, which may not have been written yet. If the row is longer than a chunk, closed returns an offset beyond longestChunk.
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

// blankAt reports whether s contains white space at offset i.
func blankAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return i < len(s) && unicode.IsSpace(r)
}

// longCut returns the offset at which to split a sentence that is too long: after its last clause if that is in the second half, else at
// its last space, else at the offset here.
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

// abbreviations lists, in lower case, abbreviations that end with a full stop and are followed by a word.
var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "sr": true, "jr": true, "vs": true,
	"e.g": true, "i.e": true, "approx": true, "dept": true, "ext": true, "no": true, "nr": true, "inc": true, "ave": true,
	"z.b": true, "bzw": true, "hr": true, "fr": true, "sra": true, "mme": true,
}

// abbreviated reports whether the full stop after the text belongs to its last word, because the word is a known abbreviation or an
// initial. "No." is an abbreviation only with a capital letter and after another word of its sentence, as in "room No. 5": otherwise it is
// usually the answer "no".
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
