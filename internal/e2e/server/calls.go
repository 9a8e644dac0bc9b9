package server

import (
	"testing"

	"github.com/callwright/callwright/internal/e2e/await"
	"github.com/callwright/callwright/transport/oas"
)

// AttachOutbound makes calls from a number go to a SIP URI.
func (s *Server) AttachOutbound(t testing.TB, number, endpoint string) {
	t.Helper()
	s.attach(t, number, oas.SipDirectionInput{
		Type: oas.SipDirectionOutbound, SipEndpoint: oas.NewOptString(endpoint),
	})
}

// AttachInbound takes calls to a number from everybody who speaks TLS and SRTP.
func (s *Server) AttachInbound(t testing.TB, number string, allowed ...string) {
	t.Helper()
	s.attach(t, number, oas.SipDirectionInput{
		Type: oas.SipDirectionInbound, AuthMode: oas.NewOptSipAuthMode(oas.SipAuthModeIP),
		Options: oas.NewOptSipOptionsInput(oas.SipOptionsInput{AllowedIps: allowed}),
	})
}

func (s *Server) attach(t testing.TB, number string, direction oas.SipDirectionInput) oas.SipAttachResult {
	t.Helper()
	answer, err := s.API.AttachSipNumbers(t.Context(), &oas.SipAttach{
		PhoneNumber: oas.NewOptString(number), Service: oas.SipServiceNameSip,
		Directions: []oas.SipDirectionInput{direction},
	}, oas.AttachSipNumbersParams{})
	if err != nil {
		t.Fatalf("attaching %s: %v", number, err)
	}
	if len(answer.Data.Configured) != 1 {
		t.Fatalf("attaching %s: %+v", number, answer.Data.Failed)
	}
	return answer.Data
}

// Call places a call and gives its id.
func (s *Server) Call(t testing.TB, request oas.CallCreate) string {
	t.Helper()
	answer, err := s.API.CreateCall(t.Context(), &request, oas.CreateCallParams{})
	if err != nil {
		t.Fatalf("placing a call: %v", err)
	}
	return answer.CallID
}

// Record reads the record of a call.
func (s *Server) Record(t testing.TB, id string) *oas.CallRecord {
	t.Helper()
	record, err := s.API.GetCall(t.Context(), oas.GetCallParams{CallID: id})
	if err != nil {
		t.Fatalf("reading the call %s: %v", id, err)
	}
	return record
}

// Until waits until the record of a call is as wanted. what completes "waiting for the call ...".
func (s *Server) Until(t testing.TB, id, what string, wanted func(*oas.CallRecord) bool) *oas.CallRecord {
	t.Helper()
	var record *oas.CallRecord
	await.That(t, "the call "+what, func() bool {
		record = s.Record(t, id)
		return wanted(record)
	})
	return record
}

// Ended waits until a call has ended.
func (s *Server) Ended(t testing.TB, id string) *oas.CallRecord {
	t.Helper()
	return s.Until(t, id, "to end", func(r *oas.CallRecord) bool { return r.Completed })
}

// Calls lists all calls, the newest first.
func (s *Server) Calls(t testing.TB) []oas.CallSummary {
	t.Helper()
	list, err := s.API.ListCalls(t.Context(), oas.ListCallsParams{})
	if err != nil {
		t.Fatalf("listing calls: %v", err)
	}
	if list.TotalCount != len(list.Calls) {
		t.Fatalf("the list has %d of %d calls", len(list.Calls), list.TotalCount)
	}
	return list.Calls
}

// StopCall ends a call.
func (s *Server) StopCall(t testing.TB, id string) {
	t.Helper()
	if _, err := s.API.StopCall(t.Context(), oas.StopCallParams{CallID: id}); err != nil {
		t.Fatalf("stopping the call %s: %v", id, err)
	}
}
