package server

import (
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/transport/oas/agentsoas"
	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/sipoas"
)

// AttachOutbound attaches a number for outbound calls to a SIP URI.
func (s *Server) AttachOutbound(t testing.TB, number, endpoint string) {
	t.Helper()
	s.attach(t, number, sipoas.SipDirectionInput{
		Type: sipoas.SipDirectionOutbound, SipEndpoint: sipoas.NewOptString(endpoint),
	})
}

// note is the task that AssignTask sets.
const note = "Answer the telephone, ask what the caller wants, and take note of it."

// AttachInbound attaches a number for inbound calls from the allowed addresses and networks. If there are none, it allows every peer with
// TLS and SRTP. An agent that takes notes answers at the number.
func (s *Server) AttachInbound(t testing.TB, number string, allowed ...string) {
	t.Helper()
	s.attach(t, number, sipoas.SipDirectionInput{
		Type: sipoas.SipDirectionInbound, AuthMode: sipoas.NewOptSipAuthMode(sipoas.SipAuthModeIP),
		Options: sipoas.NewOptSipOptionsInput(sipoas.SipOptionsInput{AllowedIps: allowed}),
	})
	s.AssignTask(t, number)
}

// AssignTask sets the task of an inbound number, because a number without one refuses calls.
func (s *Server) AssignTask(t testing.TB, number string) {
	t.Helper()
	update, err := s.API.UpdateInboundNumber(t.Context(), &agentsoas.InboundNumberUpdate{Prompt: agentsoas.NewOptNilString(note)},
		agentsoas.UpdateInboundNumberParams{PhoneNumber: number})
	if err != nil || len(update.FailedUpdates) > 0 {
		t.Fatalf("setting the task of %s: %+v, %v", number, update, err)
	}
}

func (s *Server) attach(t testing.TB, number string, direction sipoas.SipDirectionInput) sipoas.SipAttachResult {
	t.Helper()
	answer, err := s.API.AttachSipNumbers(t.Context(), &sipoas.SipAttach{
		PhoneNumber: sipoas.NewOptString(number), Service: sipoas.SipServiceNameSip,
		Directions: []sipoas.SipDirectionInput{direction},
	}, sipoas.AttachSipNumbersParams{})
	if err != nil {
		t.Fatalf("attaching %s: %v", number, err)
	}
	if len(answer.Data.Configured) != 1 {
		t.Fatalf("attaching %s: %+v", number, answer.Data.Failed)
	}
	return answer.Data
}

// Call places a call and returns its id.
func (s *Server) Call(t testing.TB, request callsoas.CallCreate) string {
	t.Helper()
	answer, err := s.API.CreateCall(t.Context(), &request, callsoas.CreateCallParams{})
	if err != nil {
		t.Fatalf("placing a call: %v", err)
	}
	return answer.CallID
}

// Record returns the record of a call.
func (s *Server) Record(t testing.TB, id string) *callsoas.CallRecord {
	t.Helper()
	record, err := s.API.GetCall(t.Context(), callsoas.GetCallParams{CallID: id})
	if err != nil {
		t.Fatalf("reading the call %s: %v", id, err)
	}
	return record
}

// Until waits until wanted returns true for the record of a call, and returns the record. what completes "waiting for the call ...".
func (s *Server) Until(t testing.TB, id, what string, wanted func(*callsoas.CallRecord) bool) *callsoas.CallRecord {
	t.Helper()
	var record *callsoas.CallRecord
	await.That(t, "the call "+what, func() bool {
		record = s.Record(t, id)
		return wanted(record)
	})
	return record
}

// Ended waits until a call has ended, and returns its record.
func (s *Server) Ended(t testing.TB, id string) *callsoas.CallRecord {
	t.Helper()
	return s.Until(t, id, "to end", func(r *callsoas.CallRecord) bool { return r.Completed })
}

// Calls returns all calls, newest first.
func (s *Server) Calls(t testing.TB) []callsoas.CallSummary {
	t.Helper()
	list, err := s.API.ListCalls(t.Context(), callsoas.ListCallsParams{})
	if err != nil {
		t.Fatalf("listing calls: %v", err)
	}
	if list.TotalCount != len(list.Calls) {
		t.Fatalf("the list has %d of %d calls", len(list.Calls), list.TotalCount)
	}
	return list.Calls
}

// StopCall stops a call through the API.
func (s *Server) StopCall(t testing.TB, id string) {
	t.Helper()
	if _, err := s.API.StopCall(t.Context(), callsoas.StopCallParams{CallID: id}); err != nil {
		t.Fatalf("stopping the call %s: %v", id, err)
	}
}
