package sipua

import (
	"github.com/emiago/sipgo/sip"

	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
)

// Understand reads a message as the user agent does when it arrives: whether it is refused at once, and what the machine
// gets to see of it.
func Understand(data []byte) (ev dialog.Event, refused bool) {
	msg, err := sip.ParseMessage(data)
	if err != nil {
		return nil, true
	}
	switch msg := msg.(type) {
	case *sip.Request:
		if check(msg) != nil {
			return nil, true
		}
		if msg.Method == sip.INVITE && checkInvite(msg) == nil {
			_, _ = calledNumber(msg)
			_, _ = callerOf(msg), customHeaders(msg)
		}
		return readRequest(msg), false
	case *sip.Response:
		if ch := strongest(msg); ch != nil {
			_ = ch.authorize(sip.NewRequest(sip.INVITE, sip.Uri{Host: "x"}), trunk.Credentials{Username: "u", Password: "p"})
		}
		return readResponse(dialog.INVITE, 1, msg), false
	default:
		return nil, true
	}
}
