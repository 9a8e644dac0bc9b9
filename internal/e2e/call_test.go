package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/transport/oas/agentsoas"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// These constants are the words of the agent in these tests, and its task: to make an appointment. The agent never says the sentence in the
// constant elsewhere. It follows rules instead of a model, so that its words are known.
const (
	greeting  = "Good morning, this is the dentist."
	question  = "Would you like to come on Monday or on Tuesday?"
	half      = "In the morning or in the afternoon?"
	goodbye   = "That is noted, goodbye."
	elsewhere = "The train to the harbour leaves at seven."

	task = `Find a day for the appointment.
when "tuesday is better for me" or "monday is better for me": say "` + half + `"
when "in the afternoon if that is possible" or "in the morning if that is possible": say "` + goodbye + `" and end
when "5": say "` + half + `"
otherwise: say "` + question + `"`
)

// These constants are the words of callers. The recognizer recognizes the first request without hints, because only the question provides
// hints.
const (
	errand  = "Hello, I need an appointment for my teeth."
	theDay  = "Tuesday is better for me."
	theTime = "In the afternoon if that is possible."
)

// start starts a server that trusts the certificate authority of the phones.
func start(t *testing.T, ca string, flags ...string) *server.Server {
	t.Helper()
	return server.Start(t, server.Config{Roots: ca, Flags: flags})
}

// appointment returns the request for a call that makes an appointment.
func appointment() callsoas.CallCreate {
	return callsoas.CallCreate{
		PhoneNumber: theirs.String(), From: callsoas.NewOptString(ours.String()), Task: callsoas.NewOptString(task),
		FirstSentence: callsoas.NewOptString(greeting), Voice: callsoas.NewOptString(agentVoice),
		Record: callsoas.NewOptBool(true), MaxDuration: callsoas.NewOptFloat64(2),
		// A busy machine recognizes words slowly. No filler then, because the tests compare transcripts.
		Idle: callsoas.NewOptNilIdleOptions(callsoas.IdleOptions{FillerAfter: callsoas.NewOptFloat64(0)}),
	}
}

// lines returns the texts of one speaker in the transcript.
func lines(r *callsoas.CallRecord, user callsoas.TranscriptLineUser) (texts []string) {
	for _, l := range r.Transcripts {
		if l.User == user {
			texts = append(texts, l.Text)
		}
	}
	return texts
}

// says waits until the agent's last line in the transcript ends with the given text. It fails the test if the call ends first.
func says(t *testing.T, s *server.Server, id, text string) {
	t.Helper()
	s.Until(t, id, "to hear "+text, func(r *callsoas.CallRecord) bool {
		if r.Completed {
			t.Fatalf("the call has ended: %s %v\n%s", r.Status, r.ErrorMessage.Value, r.ConcatenatedTranscript)
		}
		said := lines(r, callsoas.TranscriptLineUserAssistant)
		return len(said) > 0 && strings.HasSuffix(said[len(said)-1], text)
	})
}

// hook starts a receiver of webhooks, and returns its URL and the received bodies. It verifies the server's signature with the published
// Standard Webhooks library.
func hook(t *testing.T, s *server.Server) (url string, bodies <-chan []byte) {
	t.Helper()
	check, err := standardwebhooks.NewWebhook(s.WebhookSecret(t))
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan []byte, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = check.Verify(body, r.Header)
		}
		if err != nil || r.Header.Get("X-Webhook-Signature") == "" {
			t.Errorf("a webhook is not signed as it should be: %v", err)
		}
		taken <- body
	}))
	t.Cleanup(receiver.Close)
	return receiver.URL, taken
}

func TestServerCallsPhone(t *testing.T) {
	t.Parallel()
	for _, codec := range []string{"PCMU", "PCMA"} {
		t.Run(codec, func(t *testing.T) {
			t.Parallel()
			ca := authority(t)
			phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String(), Codec: codec})
			s := start(t, ca.CertFile())
			s.AttachOutbound(t, ours.String(), phone.Server())
			request := appointment()
			url, webhooks := hook(t, s)
			request.Webhook = callsoas.NewOptString(url)
			id := s.Call(t, request)
			phone.Await(t, "CALL_ESTABLISHED", 1)
			says(t, s, id, greeting)
			phone.Say(t, speak(t, callerVoice, errand))
			says(t, s, id, question)
			phone.Say(t, speak(t, callerVoice, theDay))
			says(t, s, id, half)
			phone.Say(t, speak(t, callerVoice, theTime))
			record := s.Ended(t, id)
			phone.AwaitReceived(t, "BYE ")

			checkAppointment(t, record)
			checkCarried(t, phone)
			heard := phone.Heard(t)
			checkSaid(t, heard, agentVoice, greeting, question, half, goodbye)
			checkNotSaid(t, heard, agentVoice, elsewhere)
			prompts := []string{elsewhere, half, greeting, question, goodbye}
			for _, sentence := range []string{greeting, question, half, goodbye} {
				spoken := part(heard, find(t, speak(t, agentVoice, sentence), heard))
				if got := recognize(t, spoken, prompts...); got != sentence {
					t.Errorf("the recognizer hears %q where the agent said %q", got, sentence)
				}
			}
			left, right := s.Recording(t, id)
			checkSaid(t, left, callerVoice, errand, theDay, theTime)
			checkSaid(t, right, agentVoice, greeting, question, half, goodbye)
			checkNotSaid(t, left, agentVoice, greeting, question)
			checkNotSaid(t, right, callerVoice, elsewhere)

			var told callsoas.CallRecord
			if err := json.Unmarshal(<-webhooks, &told); err != nil || told.CallID != id || !told.Completed ||
				told.ConcatenatedTranscript != record.ConcatenatedTranscript {
				t.Errorf("the webhook tells %+v, %v", told, err)
			}
		})
	}
}

// checkAppointment checks the record of a call in which the caller answered as expected.
func checkAppointment(t *testing.T, r *callsoas.CallRecord) {
	t.Helper()
	if r.Status != callsoas.CallStatusCompleted || r.QueueStatus != callsoas.QueueStatusComplete || !r.ErrorMessage.Null {
		t.Errorf("status %s, queue status %s, error %v", r.Status, r.QueueStatus, r.ErrorMessage.Value)
	}
	if r.CallEndedBy.Value != callsoas.CallRecordCallEndedByASSISTANT || r.Model.Value != "scripted" || r.Inbound {
		t.Errorf("ended by %s, model %s, inbound %v", r.CallEndedBy.Value, r.Model.Value, r.Inbound)
	}
	if r.From != ours.String() || r.To != theirs.String() || r.StartedAt.Null || r.EndAt.Null || r.CallLength.Value <= 0 {
		t.Errorf("record %+v", r)
	}
	said := lines(r, callsoas.TranscriptLineUserUser)
	if len(said) != 3 || said[0] == "" || said[1] != plain(theDay) || said[2] != plain(theTime) {
		t.Errorf("the caller said %q", said)
	}
	spoken := strings.Join(lines(r, callsoas.TranscriptLineUserAssistant), " ")
	if want := strings.Join([]string{greeting, question, half, goodbye}, " "); spoken != want {
		t.Errorf("the agent said %q, want %q", spoken, want)
	}
}

// plain converts a sentence to the form that the recognizer returns: lower case, without a period.
func plain(sentence string) string { return strings.ToLower(strings.TrimSuffix(sentence, ".")) }

// checkCarried checks that a call used SIP over TLS, and SRTP.
func checkCarried(t *testing.T, phone *baresip.Phone) {
	t.Helper()
	invites := append(phone.Received("INVITE "), phone.Sent("INVITE ")...)
	if len(invites) != 1 {
		t.Fatalf("%d calls in the phone's trace", len(invites))
	}
	answers := append(phone.Received("SIP/2.0 200"), phone.Sent("SIP/2.0 200")...)
	for _, m := range []baresip.Message{invites[0], answers[0]} {
		if m.Transport != "TLS" || !strings.Contains(m.Text, " RTP/SAVP ") ||
			!strings.Contains(m.Text, "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:") || strings.Contains(m.Text, "RTP/AVP ") {
			t.Errorf("a call over %s with\n%s", m.Transport, m.Text)
		}
	}
	if e := phone.Events("CALL_MENC"); len(e) == 0 || !strings.HasSuffix(e[0].Param, ",AES_CM_128_HMAC_SHA1_80") {
		t.Errorf("the phone's media are encrypted by %v", e)
	}
}

func TestPhoneCallsServer(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca})
	s := start(t, ca.CertFile())
	s.AttachInbound(t, ours.String(), "127.0.0.1")
	update, err := s.API.UpdateInboundNumber(t.Context(), &agentsoas.InboundNumberUpdate{
		Prompt: agentsoas.NewOptNilString(task), FirstSentence: agentsoas.NewOptNilString(greeting),
		Voice: agentsoas.NewOptNilString(agentVoice), Record: agentsoas.NewOptBool(true),
	}, agentsoas.UpdateInboundNumberParams{PhoneNumber: ours.String()})
	if err != nil || len(update.FailedUpdates) > 0 {
		t.Fatalf("giving the number an agent: %+v, %v", update, err)
	}
	phone.Dial(t, s.Number(ours.String()))
	phone.Await(t, "CALL_ESTABLISHED", 1)
	calls := s.Calls(t)
	if len(calls) != 1 || !calls[0].Inbound || calls[0].To != ours.String() {
		t.Fatalf("calls %+v", calls)
	}
	id := calls[0].CallID
	says(t, s, id, greeting)
	phone.Press(t, "5")
	says(t, s, id, half)
	phone.Hold(t)
	phone.Await(t, "CALL_REMOTE_SDP", 2)
	phone.Resume(t)
	phone.Await(t, "CALL_REMOTE_SDP", 3)
	phone.Say(t, speak(t, callerVoice, errand))
	says(t, s, id, question)
	phone.Hangup(t)

	r := s.Ended(t, id)
	if r.Status != callsoas.CallStatusCompleted || r.CallEndedBy.Value != callsoas.CallRecordCallEndedByUSER || !r.Inbound {
		t.Errorf("status %s, ended by %s, inbound %v", r.Status, r.CallEndedBy.Value, r.Inbound)
	}
	if said := lines(r, callsoas.TranscriptLineUserUser); len(said) != 2 || said[0] != "pressed 5" || said[1] == "" {
		t.Errorf("the caller said %q", said)
	}
	if invite := phone.Sent("INVITE ")[0]; invite.Transport != "TLS" || !strings.Contains(invite.Text, "RTP/SAVP ") {
		t.Errorf("a call over %s with\n%s", invite.Transport, invite.Text)
	}
	checkSaid(t, phone.Heard(t), agentVoice, greeting, half)
	left, right := s.Recording(t, id)
	checkSaid(t, left, callerVoice, errand)
	checkSaid(t, right, agentVoice, greeting, half, question)
	if len(s.Calls(t)) != 1 {
		t.Error("a call has more than one record")
	}
}

// TestNumberWithoutAgent checks that a number whose pathway was refused answers no call, and that the answer of the API and the call's record
// say why.
func TestNumberWithoutAgent(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca})
	s := start(t, ca.CertFile())
	s.AttachInbound(t, ours.String())
	change := func(members agentsoas.InboundNumberUpdate) *agentsoas.UpdateReply {
		update, err := s.API.UpdateInboundNumber(t.Context(), &members, agentsoas.UpdateInboundNumberParams{PhoneNumber: ours.String()})
		if err != nil {
			t.Fatal(err)
		}
		return update
	}
	change(agentsoas.InboundNumberUpdate{Prompt: agentsoas.NewOptNilString("")})
	update := change(agentsoas.InboundNumberUpdate{PathwayID: agentsoas.NewOptNilString("absent")})
	if update.FailedUpdates["pathway_id"] == "" || len(update.Warnings) != 1 || !strings.Contains(update.Warnings[0], "nothing can answer") {
		t.Fatalf("setting an absent pathway: %+v", update)
	}
	phone.Dial(t, s.Number(ours.String()))
	phone.AwaitReceived(t, "SIP/2.0 480 ")
	r := s.Ended(t, s.Calls(t)[0].CallID)
	if r.Status != callsoas.CallStatusFailed || r.SipCode.Value != 480 || !r.StartedAt.Null || !strings.Contains(r.ErrorMessage.Value, "pathway not found") {
		t.Errorf("status %s, %d, started %v, %s", r.Status, r.SipCode.Value, r.StartedAt, r.ErrorMessage.Value)
	}
}

// TestAgentTakesNote checks that an agent with only a task answers and takes a note.
func TestAgentTakesNote(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca})
	s := start(t, ca.CertFile())
	s.AttachInbound(t, ours.String())
	phone.Dial(t, s.Number(ours.String()))
	phone.Await(t, "CALL_ESTABLISHED", 1)
	id := s.Calls(t)[0].CallID
	says(t, s, id, "What would you like me to note?")
	phone.Say(t, speak(t, callerVoice, "Please call me back tomorrow morning."))
	r := s.Ended(t, id)
	phone.AwaitReceived(t, "BYE ")
	if said := lines(r, callsoas.TranscriptLineUserAssistant); r.Status != callsoas.CallStatusCompleted ||
		said[len(said)-1] != "Thank you. I have noted that. Goodbye." {
		t.Errorf("status %s, the agent said %q", r.Status, said)
	}
	if len(lines(r, callsoas.TranscriptLineUserUser)) != 1 {
		t.Errorf("the caller said %q", lines(r, callsoas.TranscriptLineUserUser))
	}
}

// TestCallerBreaksIn checks that the agent stops speaking when the caller barges in.
func TestCallerBreaksIn(t *testing.T) {
	t.Parallel()
	const hours = "Our rooms are open from eight in the morning until six in the evening on every day from Monday to Friday, " +
		"and from nine in the morning until noon on Saturday."
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile())
	s.AttachOutbound(t, ours.String(), phone.Server())
	request := appointment()
	request.FirstSentence = callsoas.NewOptString(hours)
	id := s.Call(t, request)
	phone.Hears(t, 3*time.Second)
	phone.Say(t, speak(t, callerVoice, errand))
	says(t, s, id, question)
	phone.Hangup(t)
	r := s.Ended(t, id)

	said := lines(r, callsoas.TranscriptLineUserAssistant)
	if first := r.Transcripts[0]; !first.Interrupted.Value || len(said) != 2 || len(said[0]) < 10 ||
		len(said[0]) > len(hours)*2/3 || !strings.HasPrefix(hours, strings.TrimRight(said[0], " .-–—…")) {
		t.Errorf("the agent said %q, interrupted: %v", said, first.Interrupted.Value)
	}
	_, right := s.Recording(t, id)
	whole := speak(t, agentVoice, hours)
	for name, heard := range map[string]pcm.Audio{"the phone": phone.Heard(t), "the recording": right} {
		if begin := find(t, share(whole, 0, 0.15), heard); begin.Distance >= pcm.SameSpeech {
			t.Errorf("%s has not the beginning of the sentence: distance %.2f", name, begin.Distance)
		}
		if end := find(t, share(whole, 0.6, 1), heard); end.Distance < pcm.SameSpeech {
			t.Errorf("%s has the end of the sentence at %v: distance %.2f", name, end.Offset, end.Distance)
		}
		checkSaid(t, heard, agentVoice, question)
	}
}

// TestTransfer checks that the agent tells the caller that a transfer failed, and continues the call. The phone follows the transfer, but
// cannot reach the number, because it calls the number without TLS.
func TestTransfer(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile())
	s.AttachInbound(t, ours.String())
	_, err := s.API.UpdateInboundNumber(t.Context(), &agentsoas.InboundNumberUpdate{
		Prompt: agentsoas.NewOptNilString(`when "0": say "One moment, please." and transfer` + "\n" +
			`when "1": say "Goodbye." and end`),
		FirstSentence: agentsoas.NewOptNilString(greeting), TransferPhoneNumber: agentsoas.NewOptNilString(theirs.String()),
	}, agentsoas.UpdateInboundNumberParams{PhoneNumber: ours.String()})
	if err != nil {
		t.Fatal(err)
	}
	phone.Dial(t, s.Number(ours.String()))
	phone.Await(t, "CALL_ESTABLISHED", 1)
	id := s.Calls(t)[0].CallID
	says(t, s, id, greeting)
	phone.Press(t, "0")
	refer := phone.AwaitReceived(t, "REFER ")
	if !strings.Contains(refer.Text, "Refer-To: <sip:"+theirs.String()+"@"+phone.Addr().String()+">") {
		t.Errorf("the call is transferred with\n%s", refer.Text)
	}
	says(t, s, id, "Is there anything else that I can do for you?")
	phone.Press(t, "1")
	r := s.Ended(t, id)
	phone.AwaitSent(t, "NOTIFY ")
	if len(phone.Sent("SIP/2.0 202")) != 1 {
		t.Error("the phone did not try")
	}
	if r.Status != callsoas.CallStatusCompleted || !r.TransferredTo.Null || !r.TransferredAt.Null {
		t.Errorf("status %s, transferred to %q", r.Status, r.TransferredTo.Value)
	}
	did := lines(r, callsoas.TranscriptLineUserAgentAction)
	if len(did) != 1 || did[0] != "tried to transfer the call to "+theirs.String()+", which failed: the transfer was answered with status 500" {
		t.Errorf("the agent did %q", did)
	}
	phone.AwaitReceived(t, "BYE ")
	onlyCall(t, s, id)
}
