package e2e_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/sipp"
	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/sipoas"
)

// TestRedirected calls through a server that redirects the call to another number at another phone, with its own certificate and SRTP. The
// call must fail at first, and succeed when the trunk allows redirects.
func TestRedirected(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	const colleague = "+15550000044"
	phone := baresip.Start(t, baresip.Config{CA: ca, User: colleague})
	to := "sip:" + colleague + "@" + phone.Addr().String() + ";transport=tls"
	s := start(t, ca.CertFile())
	redirector := func() *sipp.Server {
		peer := sipp.Start(t, ca, sipp.Redirect(to))
		s.AttachOutbound(t, ours.String(), peer.URI())
		return peer
	}

	peer := redirector()
	r := s.Ended(t, s.Call(t, appointment()))
	peer.Succeeds(t)
	if r.Status != callsoas.CallStatusFailed || r.SipCode.Value != 302 || !r.RedirectedTo.Null ||
		!strings.Contains(r.ErrorMessage.Value, to) || !strings.Contains(r.ErrorMessage.Value, "redirect_policy is off") {
		t.Errorf("status %s, SIP %d, error %q", r.Status, r.SipCode.Value, r.ErrorMessage.Value)
	}
	if len(phone.Received("INVITE ")) > 0 {
		t.Error("a redirection was followed that must not be")
	}

	peer = redirector()
	s.Update(t, ours.String(), sipoas.SipDirectionInput{
		Type: sipoas.SipDirectionOutbound, Options: sipoas.NewOptSipOptionsInput(sipoas.SipOptionsInput{
			RedirectPolicy: sipoas.NewOptSipOptionsInputRedirectPolicy(sipoas.SipOptionsInputRedirectPolicyAny),
		}),
	})
	id := s.Call(t, appointment())
	phone.Await(t, "CALL_ESTABLISHED", 1)
	peer.Succeeds(t)
	s.StopCall(t, id)
	r = s.Ended(t, id)
	if r.Status != callsoas.CallStatusCompleted || r.SipCode.Value != 200 || r.RedirectedTo.Value != to || r.To != theirs.String() {
		t.Errorf("status %s, SIP %d, redirected to %q, error %q", r.Status, r.SipCode.Value, r.RedirectedTo.Value, r.ErrorMessage.Value)
	}
	log := s.CallLog(t, ours.String())
	if len(log) < 2 || log[0].To != colleague || log[0].SipCode.Value != 200 || log[0].ParentCallID.Value != id ||
		log[1].SipCode.Value != 302 || !strings.Contains(log[1].ErrorMessage.Value, to) || log[1].ParentCallID.Value != id {
		t.Errorf("the log is %+v", log)
	}
}
