package e2e_test

import (
	"fmt"
	"testing"

	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/kamailio"
	"github.com/callwright/callwright/internal/e2e/server"
)

// TestWrongNumbersThroughKamailio checks that the server does not ban a Kamailio in front of it after 20 calls to wrong numbers. Either a
// trunk or the operator's flag names the Kamailio.
func TestWrongNumbersThroughKamailio(t *testing.T) {
	t.Parallel()
	for _, named := range []string{"by a trunk", "by the operator"} {
		t.Run(named, func(t *testing.T) {
			t.Parallel()
			ca := authority(t)
			c := server.Config{Roots: ca.CertFile(), Data: t.TempDir()}
			var s *server.Server
			switch named {
			case "by a trunk": // the second server reads the trunk when it starts
				first := server.Start(t, c)
				first.AttachInbound(t, ours.String(), "127.0.0.1")
				first.Stop(t)
				s = server.Start(t, c)
			default:
				c.Flags = []string{"--sip-trusted", "127.0.0.1"}
				s = server.Start(t, c)
				s.AttachInbound(t, ours.String())
			}
			front := kamailio.Start(t, kamailio.Config{CA: ca, Password: "nobody registers", Front: s.SIP})
			phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
			for i := range 20 {
				phone.Dial(t, front.Number(fmt.Sprintf("+141555598%02d", i)))
				phone.Await(t, "CALL_CLOSED", i+1)
			}
			phone.Dial(t, front.Number(ours.String()))
			phone.Await(t, "CALL_ESTABLISHED", 1)
			phone.Hangup(t)
		})
	}
}
