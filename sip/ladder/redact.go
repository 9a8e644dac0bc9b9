package ladder

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callwright/callwright/sip/sdp"
)

// Describe says in short what a body is: of a session description its codecs, direction and crypto suite, such as
// "PCMU, PCMA; sendrecv; AES_CM_128_HMAC_SHA1_80"; of any other its type. It quotes nothing of the body itself. Without a
// body it is empty.
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
		codecs = append(codecs, string(c))
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

// secrets are the words that a key or a password follows. Nothing that is recorded should hold one, but a peer may quote
// in its phrase what we sent it.
var secrets = []string{
	"inline:", "crypto:", "key-mgmt:", "ice-pwd:", "k=clear:", "k=base64:", "authorization:", "digest username", "password",
}

const redacted = "[redacted]"

// clean makes a text printable UTF-8 of at most limit bytes, and cuts it where a secret begins.
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

// index finds a lower-case ASCII word, in whatever case.
func index(text, word string) int {
	for i := range len(text) - len(word) + 1 {
		if text[i]|0x20 == word[0] && strings.EqualFold(text[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}
