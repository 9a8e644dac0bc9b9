package e2e_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	agentsoas "github.com/callwright/callwright/transport/oas/agentsoas"
	callsoas "github.com/callwright/callwright/transport/oas/callsoas"
	sipoas "github.com/callwright/callwright/transport/oas/sipoas"
)

// TestPhoneTransfersAgent has a caller transfer the agent to a colleague with REFER. A trunk that does not allow this must place no call.
// Otherwise the colleague must reach the same agent, and the record must contain the transfer.
func TestPhoneTransfersAgent(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone, colleague := baresip.Start(t, baresip.Config{CA: ca}), baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile())
	s.AttachInbound(t, ours.String())
	s.AttachOutbound(t, ours.String(), colleague.Server())
	_, err := s.API.UpdateInboundNumber(t.Context(), &agentsoas.InboundNumberUpdate{
		Prompt:        agentsoas.NewOptNilString(`when "1": say "Goodbye." and end`),
		FirstSentence: agentsoas.NewOptNilString(greeting), Voice: agentsoas.NewOptNilString(agentVoice),
		Record: agentsoas.NewOptBool(true),
	}, agentsoas.UpdateInboundNumberParams{PhoneNumber: ours.String()})
	if err != nil {
		t.Fatal(err)
	}
	call := func(n int) (id string) {
		phone.Dial(t, s.Number(ours.String()))
		phone.Await(t, "CALL_ESTABLISHED", n)
		id = s.Calls(t)[0].CallID
		says(t, s, id, greeting)
		phone.Do(t, "transfer", "sip:"+theirs.String()+"@"+colleague.Addr().String())
		return id
	}

	refused := call(1)
	phone.AwaitReceived(t, "SIP/2.0 603") // baresip then hangs up
	if r := s.Ended(t, refused); !r.TransferredTo.Null || !r.TransferredBy.Null || r.CallEndedBy.Value != callsoas.CallRecordCallEndedByUSER {
		t.Errorf("transferred to %q, ended by %s", r.TransferredTo.Value, r.CallEndedBy.Value)
	}
	if len(colleague.Received("INVITE ")) != 0 {
		t.Error("a number was called to which no transfer is allowed")
	}

	s.Update(t, ours.String(), sipoas.SipDirectionInput{
		Type: sipoas.SipDirectionInbound, Options: sipoas.NewOptSipOptionsInput(sipoas.SipOptionsInput{
			TransferPolicy: sipoas.NewOptSipOptionsInputTransferPolicy(sipoas.SipOptionsInputTransferPolicyAny),
		}),
	})
	id := call(2)
	colleague.Await(t, "CALL_ESTABLISHED", 1)
	await.That(t, "the phone to hear how the transfer went", func() bool {
		told := phone.Received("NOTIFY ")
		return len(told) >= 2 && strings.Contains(told[0].Text, "SIP/2.0 100 ") && strings.Contains(told[len(told)-1].Text, "SIP/2.0 200 ")
	})
	colleague.Press(t, "1")
	r := s.Ended(t, id)
	if r.TransferredTo.Value != theirs.String() || r.TransferredBy.Value != callsoas.CallRecordTransferredByUSER ||
		r.TransferredAt.Null || r.CallEndedBy.Value != callsoas.CallRecordCallEndedByASSISTANT {
		t.Errorf("transferred to %q by %s, ended by %s", r.TransferredTo.Value, r.TransferredBy.Value, r.CallEndedBy.Value)
	}
	did := lines(r, callsoas.TranscriptLineUserAgentAction)
	if len(did) != 1 || did[0] != "was transferred to "+theirs.String()+" by the other side" {
		t.Errorf("the agent did %q", did)
	}
	colleague.AwaitReceived(t, "BYE ")
	checkSaid(t, colleague.Heard(t), agentVoice, "Goodbye.")
	_, right := s.Recording(t, id)
	checkSaid(t, right, agentVoice, greeting, "Goodbye.")
}
