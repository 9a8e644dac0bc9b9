package message

import (
	"strconv"
	"strings"

	"github.com/emiago/sipgo/sip"
)

// Head is the start line and the headers of a message as they stand on the wire, for messages that sipgo cannot parse.
type Head struct {
	start  string
	fields []field
}

type field struct{ name, value, line string } // name in lower case

// endOfHead ends the headers of a message.
const endOfHead = "\r\n\r\n"

// ReadHead reads the start line and the headers of a message, and unfolds them (RFC 3261, 7.3.1).
func ReadHead(msg []byte) Head {
	text, _, _ := strings.Cut(string(msg), endOfHead)
	start, text, _ := strings.Cut(text, "\r\n")
	h := Head{start: start}
	var lines []string
	for line := range strings.SplitSeq(text, "\r\n") {
		if n := len(lines); n > 0 && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")) {
			lines[n-1] += " " + strings.TrimSpace(line)
		} else {
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		h.fields = append(h.fields, field{strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value), line})
	}
	return h
}

// ContentLength returns the length of the body. It reports false when the headers have none, or several that differ: then
// nobody knows where the message ends.
func (h Head) ContentLength() (length int, known bool) {
	for _, f := range h.fields {
		if f.name != "content-length" && f.name != "l" {
			continue
		}
		n, err := strconv.ParseUint(f.value, 10, 31)
		if err != nil || known && int(n) != length {
			return 0, false
		}
		length, known = int(n), true
	}
	return length, known
}

// echoed lists the headers that a response takes from its request (RFC 3261, 8.2.6.2), in both forms.
var echoed = map[string]bool{
	"via": true, "v": true, "from": true, "f": true, "to": true, "t": true, "call-id": true, "i": true, "cseq": true,
}

// Refusal returns the response to a malformed request. It is empty for an ACK and for a response, and without a Via.
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
	for _, f := range h.fields {
		if !echoed[f.name] {
			continue
		}
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
