package sdp

import (
	"cmp"
	"strconv"
	"strings"
)

// Suite is the only SRTP crypto suite that we offer or accept (RFC 4568, section 6.2.1): AES in counter mode with a 128-bit key and an
// 80-bit tag.
const Suite = "AES_CM_128_HMAC_SHA1_80"

// Crypto is the SRTP key of one direction, from an a=crypto line.
type Crypto struct {
	Tag int // number that links an answer's line to the offer's; 0 to 999999999
	Key Key
	// MKI is the master key identifier that every packet with this key contains, or nil. Our own keys have none.
	MKI []byte

	written string // Tag as the peer wrote it, for example "01"; empty means in decimal
}

// parseCrypto parses the value of an a=crypto attribute. It returns false for another suite, a malformed line, or a parameter that weakens
// the protection. RFC 4568 requires that such a line is skipped, not that the offer is refused.
func parseCrypto(value string) (Crypto, bool) {
	tagText, rest := word(value)
	suite, rest := word(rest)
	keyParams, sessionParams := word(rest)

	tag, ok := parseTag(tagText)
	if !ok || !strings.EqualFold(suite, Suite) || !harmless(sessionParams) {
		return Crypto{}, false
	}
	const method = "inline:"
	if len(keyParams) < len(method) || !strings.EqualFold(keyParams[:len(method)], method) {
		return Crypto{}, false
	}
	key, mki, ok := parseKeyInfo(keyParams[len(method):])
	return Crypto{Tag: tag, Key: key, MKI: mki, written: strings.Clone(tagText)}, ok
}

// parseTag parses a tag of 1 to 9 digits (RFC 4568, section 9.2).
func parseTag(text string) (int, bool) {
	if len(text) > 9 || !isDigits(text) {
		return 0, false
	}
	tag, err := strconv.Atoi(text)
	return tag, err == nil
}

// parseKeyInfo parses "<base64>[|lifetime][|mki:length]". It returns false for a malformed text, and for several keys joined by ";", which
// are not supported.
func parseKeyInfo(text string) (Key, []byte, bool) {
	if strings.Contains(text, ";") {
		return Key{}, nil, false
	}
	parts := strings.Split(text, "|")
	key, ok := parseKey(parts[0])
	if !ok || len(parts) > 3 {
		return Key{}, nil, false
	}
	rest := parts[1:]
	if len(rest) > 0 && !strings.Contains(rest[0], ":") {
		if !validLifetime(rest[0]) {
			return Key{}, nil, false
		}
		rest = rest[1:]
	}
	switch len(rest) {
	case 0:
		return key, nil, true
	case 1:
		mki, ok := parseMKI(rest[0])
		return key, mki, ok
	default:
		return Key{}, nil, false
	}
}

// validLifetime reports whether a text is a valid lifetime: "2^n" or a decimal count, up to 2^48 packets (RFC 4568, section 6.1). The
// lifetime limits only the peer, so its value is not stored.
func validLifetime(text string) bool {
	const maxExponent = 48
	if power, ok := strings.CutPrefix(text, "2^"); ok {
		n, err := strconv.ParseUint(power, 10, 8)
		return err == nil && n >= 1 && n <= maxExponent
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return err == nil && n >= 1 && n <= 1<<maxExponent
}

// parseMKI parses "value:length", with a decimal value and a length of 1 to 128 bytes (RFC 4568, section 6.1). Values of more than 64 bits
// are not supported.
func parseMKI(text string) ([]byte, bool) {
	valueText, lengthText, _ := strings.Cut(text, ":")
	value, err := strconv.ParseUint(valueText, 10, 64)
	if err != nil {
		return nil, false
	}
	length, err := strconv.ParseUint(lengthText, 10, 8)
	if err != nil || length < 1 || length > 128 {
		return nil, false
	}
	mki := make([]byte, length)
	for i := len(mki) - 1; i >= 0; i-- {
		mki[i] = byte(value)
		value >>= 8
	}
	return mki, value == 0
}

// harmless reports whether session parameters neither disable a protection nor request key derivation, which is not supported. It ignores
// other parameters, such as FEC_ORDER and WSH.
func harmless(sessionParams string) bool {
	for param := range strings.FieldsSeq(sessionParams) {
		param = strings.ToUpper(strings.TrimPrefix(param, "-"))
		if strings.HasPrefix(param, "UNENCRYPTED_") || strings.HasPrefix(param, "UNAUTHENTICATED_") ||
			param == "KDR" || strings.HasPrefix(param, "KDR=") {
			return false
		}
	}
	return true
}

func (c Crypto) appendLine(b []byte) []byte {
	b = append(b, "a=crypto:"...)
	b = append(b, cmp.Or(c.written, strconv.Itoa(c.Tag))...)
	b = append(b, " "+Suite+" inline:"...)
	b = c.Key.appendText(b)
	return append(b, '\r', '\n')
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
