package tree

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is the maximum nesting of arrays and objects that Parse accepts.
const MaxDepth = 100

// Parse parses one JSON value (RFC 8259). It refuses text that is not UTF-8, the NUL character, which databases cannot store, and nesting
// deeper than MaxDepth. The error is human-readable, and names the byte of a syntax error.
func Parse(text string) (Value, error) {
	var p Parser
	return p.Parse(text)
}

// Parser parses many values, and allocates memory for several values together. The zero Parser is ready for use.
type Parser struct {
	text    string
	at      int
	deep    bool     // whether a value is nested too deep
	nul     bool     // whether a text contains NUL
	members []Member // members of the open objects and arrays, one after the other
	room    []Member // memory for the members of closed objects and arrays
}

// Parse parses one value like the function Parse. It does not change earlier results.
func (p *Parser) Parse(text string) (Value, error) {
	if !utf8.ValidString(text) {
		return Value{}, errors.New("must be valid UTF-8")
	}
	*p = Parser{text: text, members: p.members[:0], room: p.room}
	p.blanks()
	v, ok := p.value(0)
	if ok {
		p.blanks()
		ok = p.at == len(text)
	}
	switch {
	case p.deep:
		return Value{}, fmt.Errorf("must have at most %d nested levels", MaxDepth)
	case !ok:
		return Value{}, fmt.Errorf("must be JSON: syntax error at byte %d", p.at)
	case p.nul:
		return Value{}, errors.New("must not have a NUL character")
	}
	return v, nil
}

// clone copies the members of a closed object or array to the field room, where they stay.
func (p *Parser) clone(members []Member) []Member {
	const chunk = 256
	if cap(p.room)-len(p.room) < len(members) {
		p.room = make([]Member, 0, max(chunk, len(members)))
	}
	from := len(p.room)
	p.room = append(p.room, members...)
	return slices.Clip(p.room[from:])
}

// blanks skips white space.
func (p *Parser) blanks() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// next skips white space, and reports whether the next byte is c. If so, it consumes c.
func (p *Parser) next(c byte) bool {
	p.blanks()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// value parses the value at the current position. ok is false at a syntax error, and if the value is nested too deep.
func (p *Parser) value(depth int) (v Value, ok bool) {
	if p.deep = p.deep || depth > MaxDepth; p.deep || p.at == len(p.text) {
		return v, false
	}
	start := p.at
	switch c := p.text[start]; {
	case c == '{':
		v.Kind = Object
		v.Members, ok = p.object(depth)
	case c == '[':
		v.Kind = Array
		v.Members, ok = p.array(depth)
	case c == '"':
		v.Kind, ok = String, p.quoted()
	case c == '-' || isDigit(c):
		v.Kind, ok = Number, p.number()
	case c == 'n':
		v.Kind, ok = Null, p.word("null")
	case c == 't':
		v.Kind, ok = Boolean, p.word("true")
	case c == 'f':
		v.Kind, ok = Boolean, p.word("false")
	}
	v.Raw = p.text[start:p.at]
	return v, ok
}

// word consumes null, true or false, given as word, and reports whether the text continues with it.
func (p *Parser) word(word string) bool {
	if !strings.HasPrefix(p.text[p.at:], word) {
		return false
	}
	p.at += len(word)
	return true
}

// object parses an object. It collects the members at the end of p.members, because their number is not known before the end of the object.
func (p *Parser) object(depth int) ([]Member, bool) {
	p.at++
	if p.next('}') {
		return nil, true
	}
	mark := len(p.members)
	for {
		p.blanks()
		start := p.at
		if !p.quoted() {
			return nil, false
		}
		name := unquote(p.text[start:p.at])
		if !p.next(':') {
			return nil, false
		}
		p.blanks()
		v, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		p.members = append(p.members, Member{name, v})
		if p.next('}') {
			break
		}
		if !p.next(',') {
			return nil, false
		}
	}
	whole := p.clone(p.members[mark:])
	p.members = p.members[:mark]
	return whole, true
}

// array parses an array in the same way as object.
func (p *Parser) array(depth int) ([]Member, bool) {
	p.at++
	if p.next(']') {
		return nil, true
	}
	mark := len(p.members)
	for {
		p.blanks()
		v, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		p.members = append(p.members, Member{Value: v})
		if p.next(']') {
			break
		}
		if !p.next(',') {
			return nil, false
		}
	}
	whole := p.clone(p.members[mark:])
	p.members = p.members[:mark]
	return whole, true
}

// quoted consumes a string in quotes, and reports whether it is valid.
func (p *Parser) quoted() bool {
	if p.at == len(p.text) || p.text[p.at] != '"' {
		return false
	}
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return true
		case c < ' ':
			p.nul = p.nul || c == 0
			return false
		case c == '\\':
			if !p.escape() {
				return false
			}
		}
	}
	return false
}

// escape consumes an escape sequence except its last byte, and reports whether it is valid.
func (p *Parser) escape() bool {
	rest := p.text[p.at+1:]
	if rest == "" {
		return false
	}
	if rest[0] != 'u' {
		p.at++
		return strings.IndexByte(`"\/bfnrt`, rest[0]) >= 0
	}
	if len(rest) < 5 || strings.Trim(rest[1:5], "0123456789abcdefABCDEF") != "" {
		return false
	}
	p.nul = p.nul || rest[1:5] == "0000"
	p.at += 5
	return true
}

// number consumes a number, and reports whether it is valid.
func (p *Parser) number() bool {
	p.accept("-")
	if p.accept("0") == 0 && p.digits() == 0 {
		return false
	}
	if p.accept(".") > 0 && p.digits() == 0 {
		return false
	}
	if p.accept("eE") > 0 {
		p.accept("+-")
		return p.digits() > 0
	}
	return true
}

// accept consumes the next byte if it is one of chars. It returns the number of consumed bytes: 0 or 1.
func (p *Parser) accept(chars string) int {
	if p.at < len(p.text) && strings.IndexByte(chars, p.text[p.at]) >= 0 {
		p.at++
		return 1
	}
	return 0
}

// digits consumes decimal digits and returns their number.
func (p *Parser) digits() int {
	start := p.at
	for p.at < len(p.text) && isDigit(p.text[p.at]) {
		p.at++
	}
	return p.at - start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// unquote returns the text of a string in quotes, without escapes.
func unquote(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var room [1 << 10]byte
	return string(appendUnquoted(room[:0], quoted))
}

// appendUnquoted appends the text of a string in quotes, without escapes. Half a surrogate pair becomes U+FFFD, as in encoding/json.
func appendUnquoted(to []byte, quoted string) []byte {
	text := quoted[1 : len(quoted)-1]
	for next := strings.IndexByte(text, '\\'); next >= 0; next = strings.IndexByte(text, '\\') {
		to = append(to, text[:next]...)
		c := text[next+1]
		text = text[next+2:]
		if c != 'u' {
			to = append(to, "\"\\/\b\f\n\r\t"[strings.IndexByte(`"\/bfnrt`, c)])
			continue
		}
		r := hex(text)
		text = text[4:]
		if utf16.IsSurrogate(r) {
			var low rune
			if strings.HasPrefix(text, `\u`) {
				low = hex(text[2:])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				text = text[6:]
			}
		}
		to = utf8.AppendRune(to, r)
	}
	return append(to, text...)
}

// hex returns the character with the code of the first four hexadecimal digits.
func hex(digits string) rune {
	n, _ := strconv.ParseUint(digits[:4], 16, 16)
	return rune(n)
}
