package sipua

import (
	"strings"
	"unicode/utf8"

	"github.com/emiago/sipgo/sip"
)

// refusal is a final answer to a request that never gets as far as a call.
type refusal struct {
	status  int
	headers []sip.Header
}

// single are the headers that a request has exactly one of (RFC 3261, 8.1.1), or at most one.
var single = map[string]bool{
	"call-id": true, "from": true, "to": true, "cseq": true,
	"max-forwards": false, "content-length": false, "content-type": false, "session-expires": false,
}

// check refuses what sipgo's parser lets through (RFC 4475 has most of it). Nil is fine.
func check(req *sip.Request) *refusal {
	if req.SipVersion != "SIP/2.0" {
		return &refusal{status: sip.StatusVersionNotSupported}
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
			return &refusal{status: sip.StatusBadRequest}
		}
	}
	from, cseq := req.From(), req.CSeq()
	if from == nil || req.To() == nil || req.CallID() == nil || cseq == nil || cseq.MethodName != req.Method ||
		!from.Params.Has("tag") || len(req.CallID().Value()) > maxText || clean(req) != nil || !isText(req) {
		return &refusal{status: sip.StatusBadRequest}
	}
	return checkBody(req)
}

// isText says whether all headers are UTF-8 (RFC 3261, 7).
func isText(req *sip.Request) bool {
	for _, h := range req.Headers() {
		if !utf8.ValidString(h.Value()) || !utf8.ValidString(h.Name()) {
			return false
		}
	}
	return true
}

// checkBody: the only body that we look into is a session description, and NOTIFY's fragment.
func checkBody(req *sip.Request) *refusal {
	if len(req.Body()) == 0 || req.Method != sip.INVITE && req.Method != sip.ACK {
		return nil
	}
	kind := req.ContentType()
	encoding := req.GetHeader("Content-Encoding")
	if kind == nil || !isSDP(kind.Value()) || encoding != nil && !strings.EqualFold(encoding.Value(), "identity") {
		return &refusal{status: sip.StatusUnsupportedMediaType, headers: []sip.Header{sip.NewHeader("Accept", mediaSDP)}}
	}
	return nil
}

// checkInvite is what a new call has to have beyond that.
func checkInvite(req *sip.Request) *refusal {
	if len(req.GetHeaders("Contact")) != 1 || req.Contact() == nil || req.Contact().Address.Wildcard {
		return &refusal{status: sip.StatusBadRequest}
	}
	switch req.Recipient.Scheme {
	case "sip", "sips", "tel":
		return nil
	default:
		return &refusal{status: 416} // Unsupported URI Scheme
	}
}

const mediaSDP = "application/sdp"

func isSDP(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(kind), mediaSDP)
}
