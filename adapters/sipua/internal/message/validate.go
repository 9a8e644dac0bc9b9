package message

import (
	"strings"
	"unicode/utf8"

	"github.com/emiago/sipgo/sip"
)

// single lists the headers that must occur exactly once (true; RFC 3261, 8.1.1), or at most once.
var single = map[string]bool{
	"call-id": true, "from": true, "to": true, "cseq": true,
	"max-forwards": false, "content-length": false, "content-type": false, "session-expires": false,
}

// Validate refuses malformed requests that sipgo's parser accepts (RFC 4475 has most of them). It returns nil for a valid
// request.
func Validate(req *sip.Request) *Refusal {
	if req.SipVersion != "SIP/2.0" {
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
		!from.Params.Has("tag") || len(req.CallID().Value()) > maxText || CheckControl(req) != nil || !isText(req) {
		return &Refusal{Status: sip.StatusBadRequest}
	}
	return checkBody(req)
}

// isText reports whether all headers are UTF-8 (RFC 3261, 7).
func isText(req *sip.Request) bool {
	for _, h := range req.Headers() {
		if !utf8.ValidString(h.Value()) || !utf8.ValidString(h.Name()) {
			return false
		}
	}
	return true
}

// checkBody refuses an INVITE or ACK whose body is not a session description.
func checkBody(req *sip.Request) *Refusal {
	if len(req.Body()) == 0 || req.Method != sip.INVITE && req.Method != sip.ACK {
		return nil
	}
	kind := req.ContentType()
	encoding := req.GetHeader("Content-Encoding")
	if kind == nil || !isSDP(kind.Value()) || encoding != nil && !strings.EqualFold(encoding.Value(), "identity") {
		return &Refusal{Status: sip.StatusUnsupportedMediaType, Headers: []sip.Header{sip.NewHeader("Accept", SDP)}}
	}
	return nil
}

// ValidateInvite refuses an INVITE that cannot start a call: without one Contact, or with an unknown URI scheme.
func ValidateInvite(req *sip.Request) *Refusal {
	if len(req.GetHeaders("Contact")) != 1 || req.Contact() == nil || req.Contact().Address.Wildcard {
		return &Refusal{Status: sip.StatusBadRequest}
	}
	switch req.Recipient.Scheme {
	case "sip", "sips", "tel":
		return nil
	default:
		return &Refusal{Status: 416} // Unsupported URI Scheme
	}
}

// SDP is the media type of a session description.
const SDP = "application/sdp"

func isSDP(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(kind), SDP)
}
