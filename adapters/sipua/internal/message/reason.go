package message

import (
	"strconv"
	"strings"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/sip/dialog"
)

// release maps causes to ITU-T Q.850 causes. All other causes are normal call clearing.
var release = map[dialog.Cause]struct {
	code int
	text string
}{
	dialog.Busy:          {17, "User busy"},
	dialog.NoAnswer:      {19, "No answer from user"},
	dialog.Rejected:      {21, "Call rejected"},
	dialog.Unreachable:   {102, "Recovery on timer expiry"}, // the session timer has expired
	dialog.NoACK:         {102, "Recovery on timer expiry"},
	dialog.NotAcceptable: {65, "Bearer capability not implemented"},
	dialog.Overload:      {42, "Switching equipment congestion"},
	"media_timeout":      {41, "Temporary failure"},
	"internal":           {41, "Temporary failure"},
	"drained":            {41, "Temporary failure"},
}

// addReason adds the Reason header for a cause to a BYE or CANCEL (RFC 3326).
func addReason(req *sip.Request, why dialog.Cause) {
	r, ok := release[why]
	if !ok {
		r.code, r.text = 16, "Normal call clearing"
	}
	req.AppendHeader(sip.NewHeader("Reason", "Q.850;cause="+strconv.Itoa(r.code)+";text="+strconv.Quote(r.text)))
}

// Release returns the Reason headers of a message (RFC 3326) as printable text of at most 200 bytes for records. It returns an empty text
// if there are none.
func Release(msg interface {
	GetHeaders(name string) []sip.Header
},
) string {
	var all []string
	for _, h := range msg.GetHeaders("Reason") {
		if text := strings.TrimSpace(h.Value()); text != "" {
			all = append(all, text)
		}
	}
	return Printable(strings.Join(all, ", "))
}
