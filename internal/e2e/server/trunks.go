package server

import (
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/transport/oas/sipoas"
)

// Discover starts a discovery of a host, waits until it has ended, and returns the result.
func (s *Server) Discover(t testing.TB, request sipoas.SipDiscoveryStart) sipoas.SipDiscovery {
	t.Helper()
	begun, err := s.API.StartSipDiscovery(t.Context(), &request)
	if err != nil {
		t.Fatalf("discovering %s: %v", request.Host, err)
	}
	found := begun.Data
	await.That(t, "the discovery of "+request.Host, func() bool {
		answer, err := s.API.GetSipDiscovery(t.Context(), sipoas.GetSipDiscoveryParams{DiscoveryID: found.DiscoveryID})
		if err != nil {
			t.Fatalf("reading the discovery of %s: %v", request.Host, err)
		}
		found = answer.Data
		return found.Status != sipoas.SipDiscoveryStatusRunning
	})
	return found
}

// TestCall places a test call to a number's endpoint, waits until it has ended, and returns the result.
func (s *Server) TestCall(t testing.TB, number string) sipoas.SipTestCall {
	t.Helper()
	begun, err := s.API.StartSipTestCall(t.Context(), &sipoas.SipTestCallStart{PhoneNumber: number})
	if err != nil {
		t.Fatalf("a test call of %s: %v", number, err)
	}
	var c sipoas.SipTestCall
	await.That(t, "the end of the test call", func() bool {
		answer, err := s.API.GetSipTestCall(t.Context(), sipoas.GetSipTestCallParams{CallID: begun.Data.CallID})
		if err != nil {
			t.Fatalf("reading the test call: %v", err)
		}
		c = answer.Data
		return c.Result != sipoas.SipTestCallResultPending
	})
	return c
}

// Status returns the health of a number's trunk, with the state of the registration, if the trunk registers.
func (s *Server) Status(t testing.TB, number string) sipoas.SipStatus {
	t.Helper()
	answer, err := s.API.GetSipStatus(t.Context(), sipoas.GetSipStatusParams{PhoneNumber: number})
	if err != nil {
		t.Fatalf("the status of %s: %v", number, err)
	}
	return answer.Data
}

// StatusUntil waits until wanted returns true for a number's health, and returns the health. what completes "waiting for the status ...".
func (s *Server) StatusUntil(t testing.TB, number, what string, wanted func(sipoas.SipStatus) bool) sipoas.SipStatus {
	t.Helper()
	var status sipoas.SipStatus
	await.That(t, "the status "+what, func() bool {
		status = s.Status(t, number)
		return wanted(status)
	})
	return status
}

// CallLog returns the newest attempts on a number's trunks, newest first.
func (s *Server) CallLog(t testing.TB, number string) []sipoas.SipCall {
	t.Helper()
	answer, err := s.API.ListSipCalls(t.Context(), sipoas.ListSipCallsParams{PhoneNumber: number})
	if err != nil {
		t.Fatalf("the call log of %s: %v", number, err)
	}
	return answer.Data.Calls
}

// Timeline returns the SIP messages of an attempt.
func (s *Server) Timeline(t testing.TB, id string) []sipoas.SipCallStep {
	t.Helper()
	answer, err := s.API.GetSipCallTimeline(t.Context(), sipoas.GetSipCallTimelineParams{CallID: id})
	if err != nil {
		t.Fatalf("the timeline of %s: %v", id, err)
	}
	return answer.Data.Timeline
}

// AttachRegistered attaches a number that registers with a registrar, and returns the password for the registration. An agent that takes
// notes answers at the number.
func (s *Server) AttachRegistered(t testing.TB, number, registrar, username string) (password string) {
	t.Helper()
	answer := s.attach(t, number, sipoas.SipDirectionInput{
		Type: sipoas.SipDirectionInbound, AuthMode: sipoas.NewOptSipAuthMode(sipoas.SipAuthModeRegister),
		SipEndpoint:  sipoas.NewOptString(registrar),
		RegisterAuth: sipoas.NewOptSipRegisterAuth(sipoas.SipRegisterAuth{Username: username, Password: "correct horse"}),
	})
	if answer.RegisterPasswordForPbx.Value == "" {
		t.Fatal("there is no password for the PBX")
	}
	s.AssignTask(t, number)
	return answer.RegisterPasswordForPbx.Value
}

// Update changes the trunk of a number in one direction.
func (s *Server) Update(t testing.TB, number string, change sipoas.SipDirectionInput) {
	t.Helper()
	if _, err := s.API.UpdateSipNumber(t.Context(), &sipoas.SipUpdate{PhoneNumber: number, Updates: change}); err != nil {
		t.Fatalf("updating %s: %v", number, err)
	}
}

// Detach detaches a number in one direction.
func (s *Server) Detach(t testing.TB, number string, d sipoas.SipDirection) {
	t.Helper()
	_, err := s.API.DetachSipNumber(t.Context(), &sipoas.SipDetach{
		PhoneNumber: number, Service: sipoas.SipServiceNameSip, Directions: []sipoas.SipDirectionReference{{Type: d}},
	})
	if err != nil {
		t.Fatalf("detaching %s: %v", number, err)
	}
}
