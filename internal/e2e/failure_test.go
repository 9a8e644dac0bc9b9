package e2e_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// onlyCall checks that the server stores exactly one call, and waits until it has released the resources of the call.
func onlyCall(t *testing.T, s *server.Server, id string) {
	t.Helper()
	if calls := s.Calls(t); len(calls) != 1 || calls[0].CallID != id {
		t.Errorf("%d records: %+v", len(calls), calls)
	}
	await.That(t, "the server to let go of the call", func() bool {
		return s.Metric(t, "callwright_sip_calls") == 0 && s.Metric(t, "callwright_media_sessions") == 0
	})
}

// TestCallDoesNotComeAbout checks the records of calls to phones that do not answer.
func TestCallDoesNotComeAbout(t *testing.T) {
	t.Parallel()
	ca, stranger := authority(t), authority(t)
	for _, c := range []struct {
		name    string
		phone   baresip.Config
		do      func(t *testing.T, s *server.Server, phone *baresip.Phone, id string)
		status  callsoas.CallStatus
		queue   callsoas.QueueStatus
		code    int
		message string
		silent  bool // the phone must not notice the call
	}{
		{
			name: "declined", phone: baresip.Config{CA: ca, Manual: true},
			do: func(t *testing.T, _ *server.Server, phone *baresip.Phone, _ string) {
				phone.Await(t, "CALL_INCOMING", 1)
				phone.Hangup(t)
			},
			status: callsoas.CallStatusBusy, queue: callsoas.QueueStatusCallError, code: 486, message: "busy",
		},
		{
			name: "stopped while it rings", phone: baresip.Config{CA: ca, Manual: true},
			do: func(t *testing.T, s *server.Server, phone *baresip.Phone, id string) {
				phone.Await(t, "CALL_INCOMING", 1)
				s.StopCall(t, id)
				phone.AwaitReceived(t, "CANCEL ")
				phone.Await(t, "CALL_CLOSED", 1)
			},
			status: callsoas.CallStatusCanceled, queue: callsoas.QueueStatusComplete, code: 487,
		},
		{
			name: "not here", phone: baresip.Config{CA: ca, User: "somebody-else"},
			status: callsoas.CallStatusFailed, queue: callsoas.QueueStatusCallError, code: 404, message: "not found",
		},
		{
			name: "no SRTP", phone: baresip.Config{CA: ca, Plain: true},
			status: callsoas.CallStatusFailed, queue: callsoas.QueueStatusCallError, code: 488, message: "SRTP",
		},
		{
			name: "certificate of a stranger", phone: baresip.Config{CA: stranger},
			status: callsoas.CallStatusFailed, queue: callsoas.QueueStatusCallError, message: "the certificate is signed by an unknown authority", silent: true,
		},
		{
			name: "certificate for another name", phone: baresip.Config{CA: ca, Hosts: []string{"pbx.example.com", "127.0.0.2"}},
			status: callsoas.CallStatusFailed, queue: callsoas.QueueStatusCallError, message: "the certificate does not name the host", silent: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.phone.User == "" {
				c.phone.User = theirs.String()
			}
			phone := baresip.Start(t, c.phone)
			s := start(t, ca.CertFile())
			s.AttachOutbound(t, ours.String(), phone.Server())
			id := s.Call(t, appointment())
			if c.do != nil {
				c.do(t, s, phone, id)
			}
			r := s.Ended(t, id)
			if r.Status != c.status || r.QueueStatus != c.queue || r.SipCode.Value != c.code ||
				!strings.Contains(r.ErrorMessage.Value, c.message) || r.ErrorMessage.Null != (c.message == "") {
				t.Errorf("status %s, queue status %s, SIP %d, error %q", r.Status, r.QueueStatus, r.SipCode.Value, r.ErrorMessage.Value)
			}
			if !r.StartedAt.Null || r.AnsweredBy.Value != callsoas.AnsweredByNoAnswer || !r.CallEndedBy.Null || len(r.Transcripts) > 0 {
				t.Errorf("a call that nobody took has the record %+v", r)
			}
			if heard := len(phone.Messages()); c.silent && heard > 0 {
				t.Errorf("the phone has %d messages of a call over a connection that is not to be trusted", heard)
			}
			if len(phone.Events("CALL_ESTABLISHED")) > 0 {
				t.Error("the phone was answered")
			}
			onlyCall(t, s, id)
		})
	}
}

// TestNobodyThere checks the record of a call to a phone that is switched off.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	phone.Kill()
	s := start(t, ca.CertFile())
	s.AttachOutbound(t, ours.String(), phone.Server())
	id := s.Call(t, appointment())
	if r := s.Ended(t, id); r.Status != callsoas.CallStatusFailed || !strings.Contains(r.ErrorMessage.Value, "could not be reached") {
		t.Errorf("status %s, error %q", r.Status, r.ErrorMessage.Value)
	}
	onlyCall(t, s, id)
}

// TestCallIsRefused checks the final responses to calls that the server does not accept.
func TestCallIsRefused(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	s := start(t, ca.CertFile())
	s.AttachInbound(t, ours.String())
	s.AttachInbound(t, "+14155550111", "203.0.113.0/24")
	for _, c := range []struct {
		name, number string
		plain        bool
		answer       string
	}{
		{"a number that nobody has", "+14155550199", false, "SIP/2.0 403"},
		{"an address that is not let in", "+14155550111", false, "SIP/2.0 403"},
		{"no SRTP", ours.String(), true, "SIP/2.0 488"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			phone := baresip.Start(t, baresip.Config{CA: ca, Plain: c.plain})
			phone.Dial(t, s.Number(c.number))
			phone.Await(t, "CALL_CLOSED", 1)
			phone.AwaitReceived(t, c.answer)
			if len(phone.Received(c.answer)) != 1 || len(phone.Received("SIP/2.0 180")) > 0 {
				t.Errorf("the phone was not answered with %s alone", c.answer)
			}
			if calls := s.Calls(t); len(calls) > 0 {
				t.Errorf("there is a record of a call that never reached an agent: %+v", calls)
			}
		})
	}
}

// TestStop checks the record of a call that the API hangs up.
func TestStop(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile())
	s.AttachOutbound(t, ours.String(), phone.Server())
	id := s.Call(t, appointment())
	phone.Await(t, "CALL_ESTABLISHED", 1)
	says(t, s, id, greeting)
	s.StopCall(t, id)
	phone.AwaitReceived(t, "BYE ")
	r := s.Ended(t, id)
	if r.Status != callsoas.CallStatusCompleted || r.QueueStatus != callsoas.QueueStatusComplete || !r.ErrorMessage.Null {
		t.Errorf("status %s, queue status %s, error %q", r.Status, r.QueueStatus, r.ErrorMessage.Value)
	}
	if len(phone.Received("CANCEL ")) > 0 {
		t.Error("an answered call was cancelled")
	}
	onlyCall(t, s, id)
}

// TestPhoneVanishes checks that the server ends a call whose phone was killed.
func TestPhoneVanishes(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile())
	s.AttachOutbound(t, ours.String(), phone.Server())
	id := s.Call(t, appointment())
	phone.Await(t, "CALL_ESTABLISHED", 1)
	says(t, s, id, greeting)
	phone.Kill()
	r := s.Ended(t, id)
	if r.Status != callsoas.CallStatusFailed || r.QueueStatus != callsoas.QueueStatusCompleteError || r.ErrorMessage.Value == "" {
		t.Errorf("status %s, queue status %s, error %q", r.Status, r.QueueStatus, r.ErrorMessage.Value)
	}
	if !r.CallEndedBy.Null || len(r.Transcripts) == 0 {
		t.Errorf("ended by %s, transcript %q", r.CallEndedBy.Value, r.ConcatenatedTranscript)
	}
	_, right := s.Recording(t, id)
	checkSaid(t, right, agentVoice, greeting)
	onlyCall(t, s, id)
}

// TestNoSpeechEngine checks that a server on a machine without speech engines refuses calls and names the package to install.
func TestNoSpeechEngine(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca})
	s := server.Start(t, server.Config{Roots: ca.CertFile(), Env: []string{"PATH=" + t.TempDir()}})
	s.AttachOutbound(t, ours.String(), phone.Server())
	s.AttachInbound(t, ours.String())
	_, err := s.API.CreateCall(t.Context(), new(appointment()), callsoas.CreateCallParams{})
	refusal, ok := errors.AsType[*callsoas.ErrorStatusCodeWithHeaders](err)
	if !ok || refusal.StatusCode != http.StatusServiceUnavailable {
		t.Fatalf("a call without speech engines gives %v", err)
	}
	text, err := refusal.Response.MarshalJSON()
	if err != nil || !strings.Contains(string(text), "apt-get install flite") {
		t.Errorf("the refusal does not say what to install: %s, %v", text, err)
	}
	phone.Dial(t, s.Number(ours.String()))
	phone.AwaitReceived(t, "SIP/2.0 503")
	if calls := s.Calls(t); len(calls) > 0 {
		t.Errorf("there are records of calls that were not taken: %+v", calls)
	}
}
