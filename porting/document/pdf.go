package document

import "bytes"

// maxName is the length of the longest searched name, in bytes.
const maxName = len("EmbeddedFiles")

// pdfScanner searches for names in a PDF that is written to it in pieces: a name begins with a slash, may have characters written
// as # and two hexadecimal digits, and ends before white space or a delimiter (ISO 32000-1, section 7.3.5). It does not parse the
// structure. It misses names in compressed objects, and compressed bytes may look like a name: the flags are hints only.
type pdfScanner struct {
	locked, active bool

	inName bool
	name   [maxName + 1]byte
	length int // of the name so far, at most maxName+1
	digits int // that an escape still needs
	code   byte
}

// scan looks at the next bytes.
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

// add adds a byte to the name.
func (s *pdfScanner) add(c byte) {
	switch {
	case s.digits > 0:
		digit, ok := unhex(c)
		if !ok {
			s.length = maxName + 1 // a broken name
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

// end ends the name: the file has ended, or a byte follows that is not part of it.
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

// endsName reports whether a byte is white space or a delimiter of PDF.
func endsName(c byte) bool {
	switch c {
	case 0, '\t', '\n', '\f', '\r', ' ', '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}

// unhex returns the value of a hexadecimal digit.
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
