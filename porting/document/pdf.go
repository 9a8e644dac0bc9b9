package document

import "bytes"

// maxName is the length in bytes of the longest name that pdfScanner searches for.
const maxName = len("EmbeddedFiles")

// pdfScanner searches for names in a PDF that it reads in pieces. A name begins with a slash, may contain characters written as # and two
// hexadecimal digits, and ends before white space or a delimiter (ISO 32000-1, section 7.3.5). The scanner does not parse the structure of
// the file. It misses names in compressed objects, and compressed bytes may look like a name, so the flags are only hints.
type pdfScanner struct {
	locked, active bool

	inName bool
	name   [maxName + 1]byte
	length int // length of name in bytes; maxName+1 if it is too long or malformed
	digits int // hexadecimal digits that the current escape still needs
	code   byte
}

// scan processes the next bytes of the file.
func (s *pdfScanner) scan(p []byte) {
	for len(p) > 0 {
		if !s.inName {
			slash := bytes.IndexByte(p, '/')
			if slash < 0 {
				return
			}
			s.inName, s.length, s.digits = true, 0, 0
			p = p[slash+1:]
			continue
		}
		if endsName(p[0]) {
			s.end() // a slash begins the next name
			continue
		}
		s.add(p[0])
		p = p[1:]
	}
}

// add appends a byte to the current name, decoding escapes.
func (s *pdfScanner) add(c byte) {
	switch {
	case s.digits > 0:
		digit, ok := unhex(c)
		if !ok {
			s.length = maxName + 1 // malformed escape: the name cannot match
			return
		}
		if s.code, s.digits = s.code<<4|digit, s.digits-1; s.digits > 0 {
			return
		}
		c = s.code
	case c == '#':
		s.code, s.digits = 0, 2
		return
	}
	if s.length <= maxName {
		s.name[s.length] = c
		s.length++
	}
}

// end finishes the current name, if any, and sets the flag that the name implies. It is called at the end of the file and before a byte
// that does not belong to the name.
func (s *pdfScanner) end() {
	if !s.inName {
		return
	}
	s.inName = false
	switch string(s.name[:s.length]) {
	case "Encrypt":
		s.locked = true
	case "JavaScript", "JS", "Launch", "EmbeddedFile", "EmbeddedFiles":
		s.active = true
	}
}

// endsName reports whether a byte is white space or a delimiter in PDF syntax.
func endsName(c byte) bool {
	switch c {
	case 0, '\t', '\n', '\f', '\r', ' ', '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}

// unhex returns the value of a hexadecimal digit, or false if c is not one.
func unhex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
