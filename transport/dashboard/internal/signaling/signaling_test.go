package signaling_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/transport/dashboard/internal/signaling"
)

func TestSteps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		step   ladder.Event
		text   string
		failed bool
	}{
		{ladder.Event{Sent: true, Method: "INVITE"}, "INVITE", false},
		{ladder.Event{Sent: true, Method: "INVITE", Retransmit: true}, "INVITE (retransmission)", false},
		{ladder.Event{Method: "INVITE", Status: 200, Reason: "OK"}, "200 OK (INVITE)", false},
		{ladder.Event{Method: "INVITE", Status: 401, Reason: "Unauthorized"}, "401 Unauthorized (INVITE)", false},
		{ladder.Event{Method: "INVITE", Status: 407, Retransmit: true}, "407 (INVITE) (retransmission)", false},
		{ladder.Event{Method: "INVITE", Status: 403, Reason: "Forbidden"}, "403 Forbidden (INVITE)", true},
		{ladder.Event{Note: ladder.NoteConnected}, "connected", false},
		{ladder.Event{Note: ladder.NoteUnconnected}, "not connected", true},
		{ladder.Event{Note: ladder.NoteUnresolved}, "not resolved", true},
	} {
		if text, failed := signaling.Text(test.step), signaling.Failed(test.step); text != test.text || failed != test.failed {
			t.Errorf("%+v is %q, failed %t", test.step, text, failed)
		}
	}
}

func TestLadder(t *testing.T) {
	t.Parallel()
	step := func(i int) string { return fmt.Sprint("step-", i) }
	for peer, record := range map[string]calllog.Record{
		"sip.example.com": {Server: "sip.example.com", Source: "192.0.2.7"}, "192.0.2.7": {Source: "192.0.2.7"}, "Peer": {},
	} {
		a := calllog.Attempt{Record: record, Ladder: []ladder.Event{
			{Note: ladder.NoteConnected}, {Sent: true, Method: "INVITE"}, {Method: "INVITE", Status: 486, Reason: "Busy Here"},
		}}
		svg := string(signaling.Ladder("ladder", "Messages", a, step))
		for _, text := range []string{
			"Callwright to " + peer + ": INVITE", peer + " to Callwright: 486 Busy Here (INVITE) (failed)", `href="#step-2"`, "<title id=\"ladder-title\">Messages<",
		} {
			if !strings.Contains(svg, text) {
				t.Errorf("%q is missing:\n%s", text, svg)
			}
		}
	}
}
