package message

import (
	"maps"
	"slices"
	"strings"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/header"
)

// CalledNumber returns the number of the trunk whose Contact is the Request-URI, or else the number in the Request-URI, or else the number
// in To.
func CalledNumber(req *sip.Request) (callwright.PhoneNumber, error) {
	if n, ok := trunk.ContactNumber(CalledUser(req)); ok {
		return n, nil
	}
	if n, err := Number(&req.Recipient); err == nil {
		return n, nil
	}
	return Number(&req.To().Address)
}

// CalledDigits returns the called number in the Request-URI if it consists only of digits: a national number, or E.164 without the plus. It
// returns an empty text for any other Request-URI, and for the Contact of a trunk.
func CalledDigits(req *sip.Request) string {
	digits := user(&req.Recipient)
	if _, ok := trunk.ContactNumber(CalledUser(req)); ok || strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	return digits
}

// CalledUser returns the unescaped user part of the Request-URI.
func CalledUser(req *sip.Request) string { return unescaped(req.Recipient.User) }

// Caller returns the user part of From. It returns an E.164 number if the user part is one, otherwise a printable text.
func Caller(req *sip.Request) string {
	from := &req.From().Address
	if n, err := callwright.ParsePhoneNumber(user(from)); err == nil {
		return n.String()
	}
	return Printable(from.User)
}

// Number returns the E.164 number of a sip, sips or tel URI, which may omit the plus. It returns an error if the URI contains none.
func Number(u *sip.Uri) (callwright.PhoneNumber, error) {
	return callwright.ParsePhoneNumber("+" + strings.TrimPrefix(user(u), "+"))
}

// user returns the user part of a URI without its parameters, or the number of a tel URI without visual separators.
func user(u *sip.Uri) string {
	text := u.User
	if u.Scheme == "tel" {
		text = strings.NewReplacer("-", "", ".", "", "(", "", ")", "").Replace(u.Raw()) // visual separators (RFC 3966, 5.1.1)
	}
	text, _, _ = strings.Cut(text, ";")
	return unescaped(text)
}

// maxHeader is the maximum length of the name and value of a custom header together, in bytes.
const maxHeader = 2048

// CustomHeaders returns the headers of an INVITE that only applications interpret: X- headers and User-to-User. It omits headers longer
// than maxHeader.
func CustomHeaders(req *sip.Request) map[string]string {
	var custom map[string]string
	for _, h := range req.Headers() {
		if isCustom(h.Name()) && len(h.Name())+len(h.Value()) <= maxHeader {
			if custom == nil {
				custom = map[string]string{}
			}
			custom[Text(h.Name())] = Text(h.Value())
		}
	}
	return custom
}

// NewCustomHeaders returns the headers that an application adds to an INVITE, sorted by name. It omits headers that are not custom, because
// applications must not change the rest of the message. It returns CodeBadRequest for an invalid or too long header.
func NewCustomHeaders(values map[string]string) ([]sip.Header, error) {
	var headers []sip.Header
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		if !isCustom(name) {
			continue
		}
		if !isToken(name) || HasControl(value) || len(name)+len(value) > maxHeader {
			return nil, callwright.Invalid("headers",
				"the header %.40q must have a name of letters, digits and -.!%%*_+`'~, a value without control characters, and at most %d bytes in total", name, maxHeader)
		}
		headers = append(headers, sip.NewHeader(name, value))
	}
	return headers, nil
}

func isCustom(name string) bool {
	return len(name) > 2 && strings.EqualFold(name[:2], "X-") || strings.EqualFold(name, "User-to-User")
}

// Headers returns all headers of a request, to which a trunk's mapping rules apply.
func Headers(req *sip.Request) []header.Header {
	headers := make([]header.Header, 0, len(req.Headers()))
	for _, h := range req.Headers() {
		headers = append(headers, header.Header{Name: Text(h.Name()), Value: Text(h.Value())})
	}
	return headers
}
