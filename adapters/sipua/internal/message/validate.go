package message

import (
	"strings"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/sip/dialog"
)

// version is the SIP version that this package supports.
const version = "SIP/2.0"

// single lists the headers that must not be repeated. The value is true for headers that are also required (RFC 3261, 8.1.1).
var single = map[string]bool{
	"call-id": true, "from": true, "to": true, "cseq": true,
	"max-forwards": false, "content-length": false, "content-type": false, "session-expires": false,
}

// maxCallID is the maximum length of a Call-ID in bytes. Session border controllers use several hundred.
const maxCallID = 1024

// Validate returns a refusal for a malformed request that sipgo's parser accepts, such as many test messages of RFC 4475. It returns nil
// for a valid request.
func Validate(req *sip.Request) *Refusal {
	if req.Via() == nil {
		return &Refusal{Status: sip.StatusBadRequest}
	}
	if !strings.EqualFold(req.SipVersion, version) {
		return &Refusal{Status: sip.StatusVersionNotSupported}
	}
	count := map[string]int{}
	for _, h := range req.Headers() {
		name := strings.ToLower(h.Name())
		if _, ok := single[name]; ok {
			count[name]++
		}
	}
	for name, required := range single {
		if count[name] > 1 || required && count[name] == 0 {
			return &Refusal{Status: sip.StatusBadRequest}
		}
	}
	from, cseq := req.From(), req.CSeq()
	if from == nil || req.To() == nil || req.CallID() == nil || cseq == nil || cseq.MethodName != req.Method ||
		!from.Params.Has("tag") || len(req.CallID().Value()) > maxCallID || CheckControl(req) != nil {
		return &Refusal{Status: sip.StatusBadRequest}
	}
	return checkBody(req)
}

// ValidateInvite returns a refusal for an INVITE that cannot start a call because it does not contain exactly one Contact, or contains a
// malformed Record-Route. It returns nil for a valid INVITE.
func ValidateInvite(req *sip.Request) *Refusal {
	_, err := recordedRoutes(req)
	if len(req.GetHeaders("Contact")) != 1 || req.Contact() == nil || req.Contact().Address.Wildcard || err != nil {
		return &Refusal{Status: sip.StatusBadRequest}
	}
	return nil
}

// CheckContact returns a refusal for an INVITE whose Contact is no SIP URI (RFC 3261, 8.1.1.8), because further requests must be sent to
// the Contact. It returns nil otherwise.
func CheckContact(req *sip.Request) *Refusal {
	if contact := req.Contact(); req.Method == sip.INVITE && contact != nil && !contact.Address.Wildcard && !isSIP(&contact.Address) {
		return &Refusal{Status: sip.StatusBadRequest}
	}
	return nil
}

// isSIP reports whether a URI is a sip or sips URI.
func isSIP(u *sip.Uri) bool {
	return strings.EqualFold(u.Scheme, "sip") || strings.EqualFold(u.Scheme, sips)
}

// CheckScheme returns a 416 refusal if the scheme of the Request-URI is unknown (RFC 3261, 8.2.2.1), and nil otherwise.
func CheckScheme(req *sip.Request) *Refusal {
	if isKnownScheme(req.Recipient.Scheme) {
		return nil
	}
	return &Refusal{Status: statusUnknownScheme}
}

const statusUnknownScheme = 416 // the SIP status Unsupported URI Scheme

func isKnownScheme(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "sip", "sips", "tel":
		return true
	default:
		return false
	}
}

// isScheme reports whether a text may be the scheme of a URI (RFC 3986, 3.1).
func isScheme(text string) bool {
	for i, c := range strings.ToLower(text) {
		if letter := c >= 'a' && c <= 'z'; !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", c)) {
			return false
		}
	}
	return text != ""
}

// CheckRequire returns a 420 refusal if a request requires unsupported extensions, and nil otherwise. It always returns nil for CANCEL and
// ACK (RFC 3261, 8.2.2.3).
func CheckRequire(req *sip.Request) *Refusal {
	tags := dialog.Unsupported(tokens(req.GetHeaders("Require")))
	if len(tags) == 0 || req.Method == sip.CANCEL || req.Method == sip.ACK {
		return nil
	}
	return &Refusal{
		Status: sip.StatusBadExtension, Headers: []sip.Header{sip.NewHeader("Unsupported", strings.Join(tags, ", "))},
	}
}
