package ladder

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callwright/callwright/sip/sdp"
)

// Describe returns a summary of a body: the codecs, the direction and the crypto suite of a session description, such as "PCMU, PCMA;
// sendrecv; AES_CM_128_HMAC_SHA1_80", or otherwise the body's type. For a malformed session description it returns a text that says so. It
// returns "" if there is no body.
func Describe(contentType string, body []byte) string {
	kind, _, _ := strings.Cut(contentType, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	switch {
	case len(body) == 0:
		return ""
	case kind != "application/sdp":
		return clean(kind, maxText)
	}
	d, err := sdp.Parse(body)
	if err != nil {
		return "not a session description"
	}
	codecs := make([]string, 0, len(d.Codecs()))
	for _, c := range d.Codecs() {
		codecs = append(codecs, c.Name())
	}
	list, suite := strings.Join(codecs, ", "), "no SRTP"
	if list == "" {
		list = "no codec"
	}
	if d.Secure() {
		suite = sdp.Suite
	}
	return list + "; " + d.Direction().String() + "; " + suite
}

// secrets lists the words that precede a key or a password. Our own texts contain no secrets, but a peer may quote our message in its
// phrase.
var secrets = []string{
	"inline:", "crypto:", "key-mgmt:", "ice-pwd:", "k=clear:", "k=base64:", "authorization:", "digest username", "password",
}

const redacted = "[redacted]"

// clean returns the printable characters of a text, at most limit bytes. It replaces the rest of the text from the first secret with
// "[redacted]".
func clean(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, ""))
	for _, word := range secrets {
		if i := index(text, word); i >= 0 {
			text = text[:i] + redacted
		}
	}
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// index returns the first index of a lower-case ASCII word in a text, ignoring case, or -1.
func index(text, word string) int {
	for i := range len(text) - len(word) + 1 {
		if text[i]|0x20 == word[0] && strings.EqualFold(text[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}
