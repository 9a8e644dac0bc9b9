package header

import "strings"

// own contains the headers that SIP itself uses, in lower case. A rule for such a header could break calls or fake an identity.
var own = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`
		accept accept-encoding accept-language allow allow-events authentication-info authorization call-id
		contact cseq date encryption error-info event expires from hide in-reply-to max-forwards mime-version min-expires
		record-route refer-to reply-to require response-key retry-after route server subscription-state supported timestamp
		to unsupported user-agent via warning www-authenticate

		rack rseq
		min-se session-expires
		join replaces target-dialog
		refer-sub referred-by refer-events-at
		path service-route flow-timer
		sip-etag sip-if-match suppress-if-match
		identity identity-info
		security-client security-server security-verify
		accept-contact reject-contact request-disposition
		info-package recv-info
		max-breadth answer-mode priv-answer-mode permission-missing trigger-consent policy-contact policy-id
		session-id feature-caps resource-share`) {
		names[name] = true
	}
	return names
}()

// isOwn reports whether SIP itself uses a header. It returns true for the names in own, for compact forms, which are single letters, and
// for headers that describe a body or authenticate to a proxy.
func isOwn(name string) bool {
	name = strings.ToLower(name)
	return own[name] || len(name) == 1 || strings.HasPrefix(name, "content-") || strings.HasPrefix(name, "proxy-")
}
