package dialog_test

import (
	"fmt"

	"github.com/callwright/callwright/sip/dialog"
)

// The caller gives up while the phone rings, just as the callee answers.
func Example() {
	call := dialog.NewCall(dialog.Config{LocalTag: "a1"})
	for _, ev := range []dialog.Event{
		dialog.Dial{Target: "sip:+15551234567@pbx.example"},
		dialog.Response{Method: dialog.INVITE, CSeq: 1, Status: 180, RemoteTag: "b2"},
		dialog.Hangup{Cause: dialog.Cancelled},
		dialog.Response{Method: dialog.INVITE, CSeq: 1, Status: 200, RemoteTag: "b2", Body: true, Contact: "sip:b@192.0.2.1"},
		dialog.Response{Method: dialog.BYE, CSeq: 2, Status: 200},
	} {
		var effects []dialog.Effect
		call, effects, _ = call.Next(ev)
		for _, e := range effects {
			switch e := e.(type) {
			case dialog.Send:
				fmt.Println("send", e.Method, e.Via.RequestURI)
			case dialog.Ended:
				fmt.Println("ended:", e.Cause)
			}
		}
	}
	// Output:
	// send INVITE sip:+15551234567@pbx.example
	// send CANCEL sip:+15551234567@pbx.example
	// send ACK sip:b@192.0.2.1
	// send BYE sip:b@192.0.2.1
	// ended: cancelled
}
