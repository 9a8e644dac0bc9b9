package message

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/emiago/sipgo/sip"
)

// The limits of a message's head. sipgo allocates a value for each header, address and parameter, up to 40 times as large as its text, and
// compares each parameter with all previous ones.
const (
	MaxLines = 200  // header lines, including continuation lines
	MaxParts = 1000 // commas, semicolons and ampersands, which separate values and parameters
)

// endOfHead separates the headers of a message from its body.
const endOfHead = "\r\n\r\n"

// IsExcessive reports whether the head of a message exceeds MaxLines or MaxParts.
func IsExcessive(msg []byte) bool {
	head, _, _ := bytes.Cut(msg, []byte(endOfHead))
	parts := 0
	for _, separator := range []string{",", ";", "&"} {
		parts += bytes.Count(head, []byte(separator))
	}
	return bytes.Count(head, []byte("\r\n")) > MaxLines || parts > MaxParts
}

// Head holds the start line and some headers of a message as received, for messages that sipgo cannot or must not parse.
type Head struct {
	start  string
	echoed []field // at most MaxLines headers that are in the variable echoed
	length int     // length of the body in bytes
	known  bool    // the length is present and unambiguous
}

type field struct{ name, value, line string } // name is in lower case

// echoed lists the headers that a response copies from its request (RFC 3261, 8.2.6.2), in both their long and compact forms.
var echoed = map[string]bool{
	"via": true, "v": true, "from": true, "f": true, "to": true, "t": true, "call-id": true, "i": true, "cseq": true,
}

// ReadHead parses the start line and the headers of a message. It reads any number of headers, but stores at most MaxLines of them.
func ReadHead(msg []byte) Head {
	text, _, _ := strings.Cut(string(msg), endOfHead)
	start, rest, _ := strings.Cut(text, "\r\n")
	h := Head{start: start}
	lengths := 0
	for rest != "" {
		var line string
		line, rest = nextHeader(rest)
		name, _, _ := strings.Cut(line, ":")
		switch name = strings.ToLower(strings.TrimSpace(name)); {
		case name == "content-length" || name == "l":
			_, value, _ := strings.Cut(unfolded(line), ":")
			n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
			h.known = err == nil && (lengths == 0 || h.known && int(n) == h.length)
			h.length = int(n)
			lengths++
		case echoed[name] && len(h.echoed) < MaxLines:
			line = unfolded(line)
			_, value, _ := strings.Cut(line, ":")
			h.echoed = append(h.echoed, field{name, strings.TrimSpace(value), line})
		}
	}
	return h
}

// nextHeader returns the first header with its continuation lines, and the rest of the text.
func nextHeader(text string) (header, rest string) {
	const crlf = "\r\n"
	for from := 0; ; {
		end := strings.Index(text[from:], crlf)
		if end < 0 {
			return text, ""
		}
		from += end + len(crlf)
		if from == len(text) || text[from] != ' ' && text[from] != '\t' {
			return text[:from-len(crlf)], text[from:]
		}
	}
}

// unfolded joins the continuation lines of a header (RFC 3261, 7.3.1).
func unfolded(header string) string {
	if !strings.Contains(header, "\r\n") {
		return header
	}
	first, rest, _ := strings.Cut(header, "\r\n")
	var b strings.Builder
	b.WriteString(first)
	for line := range strings.SplitSeq(rest, "\r\n") {
		b.WriteByte(' ')
		b.WriteString(strings.TrimSpace(line))
	}
	return b.String()
}

// ContentLength returns the length of the body. known is false if the headers contain no valid length, or several that differ. Then the end
// of the message cannot be determined.
func (h Head) ContentLength() (length int, known bool) { return h.length, h.known }

// Refusal returns the response to a malformed request. It returns an empty text for an ACK, for a response, for a start line without a SIP
// version, for a request without Via, and if a header that the response must copy contains a control character.
func (h Head) Refusal() string {
	parts := strings.Fields(h.start)
	if len(parts) < 3 || strings.EqualFold(parts[0], string(sip.ACK)) {
		return ""
	}
	theirs := parts[len(parts)-1]
	if len(theirs) < 4 || !strings.EqualFold(theirs[:4], "SIP/") {
		return ""
	}
	status := sip.StatusBadRequest
	switch scheme, _, _ := strings.Cut(parts[1], ":"); {
	case !strings.EqualFold(theirs, version):
		status = sip.StatusVersionNotSupported
	case len(parts) == 3 && isScheme(scheme) && !isKnownScheme(scheme):
		status = statusUnknownScheme
	}
	lines, via := []string{version + " " + strconv.Itoa(status) + " " + reasons[status]}, false
	for _, f := range h.echoed {
		if HasControl(f.line) {
			return ""
		}
		line := f.line
		switch f.name {
		case "via", "v":
			via = true
		case "to", "t":
			if !strings.Contains(strings.ToLower(f.value), ";tag=") {
				line += ";tag=" + sip.GenerateTagN(16)
			}
		}
		lines = append(lines, line)
	}
	if !via {
		return ""
	}
	return strings.Join(append(lines, "Content-Length: 0"), "\r\n") + endOfHead
}
