package probe

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/callwright/callwright/sip/fingerprint"
	"github.com/callwright/callwright/sip/sdp"
)

// The limits of a peer's messages, in bytes or items.
const (
	maxMessage   = 64 << 10 // size of a message including its body
	maxReceived  = 4 * maxMessage
	maxFirstLine = 4 << 10
	maxHeaders   = 128
	maxFolded    = 4 << 10 // a header value of this length ignores further continuation lines
	maxUserAgent = 256
	maxMethods   = 32
	maxMethod    = 20
)

var (
	errNotSIP = errors.New("the answer is not SIP")
	errHuge   = fmt.Errorf("the answer is too large: at most %d KiB a message, and %d KiB in total", maxMessage>>10, maxReceived>>10)
)

// response is a parsed SIP response.
type response struct {
	code    int
	headers []fingerprint.Header
	body    string
}

// frame returns the length of the first message in a stream (RFC 3261, 18.3). It returns 0 if the message is incomplete, and an error if it
// is not SIP or too large.
func frame(stream []byte) (length int, err error) {
	first, _, whole := bytes.Cut(stream[:min(len(stream), maxFirstLine)], crlf)
	if !whole {
		if len(stream) >= maxFirstLine {
			return 0, errNotSIP
		}
		return 0, nil
	}
	if !bytes.HasPrefix(first, version) && !bytes.HasSuffix(first, version) {
		return 0, errNotSIP
	}
	end := bytes.Index(stream, blank)
	if end < 0 {
		if len(stream) >= maxMessage {
			return 0, errHuge
		}
		return 0, nil
	}
	body, err := contentLength(stream[:end])
	if err != nil {
		return 0, err
	}
	length = end + len(blank) + body
	switch {
	case length > maxMessage:
		return 0, errHuge
	case length > len(stream):
		return 0, nil
	default:
		return length, nil
	}
}

var (
	crlf    = []byte("\r\n")
	blank   = []byte("\r\n\r\n")
	version = []byte("SIP/2.0")
)

// contentLength returns the Content-Length in the head of a message, or 0 if there is none. It returns errNotSIP for an invalid length.
func contentLength(head []byte) (int, error) {
	for line := range bytes.SplitSeq(head, crlf) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		name = bytes.TrimSpace(name)
		if !ok || !bytes.EqualFold(name, []byte("Content-Length")) && !bytes.EqualFold(name, []byte("l")) {
			continue
		}
		length, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 31)
		if err != nil {
			return 0, errNotSIP
		}
		return int(length), nil
	}
	return 0, nil
}

// parse parses a response. It skips lines that are not headers, and all headers after the first maxHeaders. ok is false if the message is
// not a SIP response.
func parse(message string) (r response, ok bool) {
	head, body, _ := strings.Cut(message, "\r\n\r\n")
	status, rest, _ := strings.Cut(head, "\r\n")
	code, isResponse := strings.CutPrefix(status, "SIP/2.0 ")
	if !isResponse || len(code) < 3 || len(code) > 3 && code[3] != ' ' {
		return response{}, false
	}
	number, err := strconv.ParseUint(code[:3], 10, 16)
	if err != nil || number < 100 || number > 699 {
		return response{}, false
	}
	r = response{code: int(number), headers: make([]fingerprint.Header, 0, 16), body: body}
	for line := range strings.SplitSeq(rest, "\r\n") {
		if n := len(r.headers); n > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
			if len(r.headers[n-1].Value) < maxFolded {
				r.headers[n-1].Value += " " + strings.TrimSpace(line) // a continuation line (RFC 3261, 7.3.1)
			}
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			continue
		}
		if len(r.headers) == maxHeaders {
			break
		}
		r.headers = append(r.headers, fingerprint.Header{Name: name, Value: strings.TrimSpace(value)})
	}
	return r, true
}

// header returns the value of the first header with the given name or its compact form, or an empty text. compact may be empty.
func (r response) header(name, compact string) string {
	for _, h := range r.headers {
		if strings.EqualFold(h.Name, name) || compact != "" && strings.EqualFold(h.Name, compact) {
			return h.Value
		}
	}
	return ""
}

// answers reports whether r is a final response to the request with the given token (RFC 3261, 17.1.3).
func (r response) answers(token string) bool {
	sequenced := strings.Join(strings.Fields(r.header("CSeq", "")), " ")
	return r.code >= 200 && r.header("Call-ID", "i") == token && sequenced == sequence &&
		branchOf(r.header("Via", "v")) == magic+token
}

// branchOf returns the branch parameter of the topmost value in a Via header, or an empty text.
func branchOf(via string) string {
	top, _, _ := strings.Cut(via, ",")
	for param := range strings.SplitSeq(top, ";") {
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "branch") {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// userAgent returns the value of Server or else User-Agent, reduced to printable ASCII characters and at most 256 bytes.
func (r response) userAgent() string {
	text := r.header("Server", "")
	if text == "" {
		text = r.header("User-Agent", "")
	}
	var b strings.Builder
	for i := 0; i < len(text) && b.Len() < maxUserAgent; i++ {
		if text[i] >= ' ' && text[i] < 0x7f {
			b.WriteByte(text[i])
		}
	}
	return strings.TrimSpace(b.String())
}

// methods returns the methods of the Allow headers in their order, without duplicates and at most maxMethods.
func (r response) methods() []string {
	var methods []string
	seen := map[string]bool{}
	for _, h := range r.headers {
		if !strings.EqualFold(h.Name, "Allow") {
			continue
		}
		for method := range strings.SplitSeq(h.Value, ",") {
			method = strings.TrimSpace(method)
			if len(methods) < maxMethods && isMethod(method) && !seen[method] {
				seen[method] = true
				methods = append(methods, method)
			}
		}
	}
	return methods
}

// isMethod reports whether a text may be a SIP method. All registered methods consist of capital letters.
func isMethod(s string) bool {
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return s != "" && len(s) <= maxMethod
}

// codecs returns the known codecs in the body's session description, or nil if the body contains none. Few servers send a session
// description.
func (r response) codecs() []string {
	kind, _, _ := strings.Cut(r.header("Content-Type", "c"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/sdp") {
		return nil
	}
	// A session description of capabilities contains port 0 (RFC 3264, section 9), which sdp.Parse would treat as a rejected stream.
	description, err := sdp.Parse([]byte(strings.Replace(r.body, "m=audio 0 ", "m=audio 9 ", 1)))
	if err != nil {
		return nil
	}
	var codecs []string
	for _, c := range description.Codecs() {
		codecs = append(codecs, c.Name())
	}
	return codecs
}
