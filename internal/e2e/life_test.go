package e2e_test

import (
	"bufio"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// brief returns the request for a call in which the agent says goodbye and hangs up.
func brief() callsoas.CallCreate {
	request := appointment()
	request.Task, request.FirstSentence = callsoas.NewOptString(`start: say "`+goodbye+`" and end`), callsoas.OptString{}
	return request
}

// lostByKill is the duration of audio that kill -9 may remove from a recording, as docs/architecture.md specifies.
const lostByKill = 200 * time.Millisecond

// TestServerIsKilled kills the server during a call, with other calls queued, and restarts it on the same data. It must close the first
// call, and place each other call or record it as lost. No call may have two records or ring twice. The recording must contain the
// greeting, which was spoken more than lostByKill before the kill.
func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	first := start(t, ca.CertFile())
	first.AttachOutbound(t, ours.String(), phone.Server())
	cut := first.Call(t, appointment())
	phone.Await(t, "CALL_ESTABLISHED", 1)
	says(t, first, cut, greeting) // the transcript contains it only after the recorder has read it
	said := time.Now()
	await.That(t, "the audio that a kill may cost to be of later", func() bool { return time.Since(said) >= lostByKill })
	var queued []string
	for range 3 {
		queued = append(queued, first.Call(t, brief()))
	}
	first.Kill()

	second := server.Start(t, server.Config{Data: first.Data, Roots: ca.CertFile()})
	if second.Key != first.Key {
		t.Error("the second start made another key")
	}
	for _, id := range queued {
		r := second.Ended(t, id)
		placed := r.Status == callsoas.CallStatusCompleted && r.QueueStatus == callsoas.QueueStatusComplete
		lost := r.Status == callsoas.CallStatusFailed && strings.Contains(r.ErrorMessage.Value, "server")
		if !placed && !lost {
			t.Errorf("a queued call ended as %s, %s, %q", r.Status, r.QueueStatus, r.ErrorMessage.Value)
		}
	}
	r := second.Ended(t, cut)
	if r.Status != callsoas.CallStatusFailed || r.QueueStatus != callsoas.QueueStatusCompleteError ||
		!strings.Contains(r.ErrorMessage.Value, "the server that ran the call stopped") {
		t.Errorf("the call that was cut ended as %s, %s, %q", r.Status, r.QueueStatus, r.ErrorMessage.Value)
	}
	if !slices.Equal(lines(r, callsoas.TranscriptLineUserAssistant), []string{greeting}) {
		t.Errorf("the transcript of the call that was cut is %q", r.ConcatenatedTranscript)
	}
	if calls := second.Calls(t); len(calls) != 1+len(queued) {
		t.Errorf("%d records of %d calls", len(calls), 1+len(queued))
	}
	if rang := len(phone.Events("CALL_INCOMING")); rang > 1+len(queued) {
		t.Errorf("%d calls rang %d times", 1+len(queued), rang)
	}
	_, right := second.Recording(t, cut)
	checkSaid(t, right, agentVoice, greeting)
}

// TestDrain stops the server during a call that would continue. During the drain, the server must refuse OPTIONS and new SIP calls with
// Retry-After. The call must be drained, recorded and reported.
func TestDrain(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	other := baresip.Start(t, baresip.Config{CA: ca})
	first := start(t, ca.CertFile(), "--drain-timeout", "8s")
	webhook, bodies := hook(t, first)
	first.AttachOutbound(t, ours.String(), phone.Server())
	first.AttachInbound(t, ours.String())
	if status, _ := first.Get(t, "/readyz"); status != http.StatusOK {
		t.Errorf("/readyz is %d before the drain", status)
	}
	if answer := options(t, first); !strings.HasPrefix(answer, "SIP/2.0 200") {
		t.Errorf("OPTIONS is answered with %s before the drain", answer)
	}
	request := appointment()
	request.Webhook = callsoas.NewOptString(webhook)
	running := first.Call(t, request)
	phone.Await(t, "CALL_ESTABLISHED", 1)
	says(t, first, running, greeting)
	first.Terminate(t)
	await.That(t, "/readyz to refuse", func() bool {
		status, _ := first.Get(t, "/readyz")
		return status == http.StatusServiceUnavailable
	})
	if answer := options(t, first); !strings.HasPrefix(answer, "SIP/2.0 503") || !strings.Contains(answer, "\r\nRetry-After: ") {
		t.Errorf("OPTIONS is answered with %s during the drain", answer)
	}
	other.Dial(t, first.Number(ours.String()))
	if refusal := other.AwaitReceived(t, "SIP/2.0 5"); !strings.HasPrefix(refusal.First, "SIP/2.0 503") || !strings.Contains(refusal.Text, "\nRetry-After: ") {
		t.Errorf("a call during the drain is answered with %s", refusal.Text)
	}
	if health, _ := first.Get(t, "/healthz"); health != http.StatusOK {
		t.Errorf("/healthz is %d during the drain", health)
	}
	if !first.Record(t, running).EndAt.Null {
		t.Error("the running call was not left to run")
	}
	late, lateErr := first.API.CreateCall(t.Context(), new(appointment()), callsoas.CreateCallParams{})
	phone.AwaitReceived(t, "BYE ")
	if code := first.ExitCode(t); code != 0 {
		t.Errorf("the server stopped with exit code %d", code)
	}

	second := server.Start(t, server.Config{Data: first.Data, Roots: ca.CertFile()})
	r := second.Record(t, running)
	if !r.Completed || r.Status != callsoas.CallStatusFailed || !r.CallEndedBy.Null || !strings.HasPrefix(r.ErrorMessage.Value, "drained: ") {
		t.Errorf("the running call ended as %s by %s, %q", r.Status, r.CallEndedBy.Value, r.ErrorMessage.Value)
	}
	if log := second.CallLog(t, ours.String()); len(log) == 0 || !strings.Contains(log[len(log)-1].ErrorMessage.Value, "the server is stopping") {
		t.Errorf("the SIP call log is %+v", log)
	}
	if !strings.Contains(first.Log(), "cause=drained") {
		t.Error("the log does not say that the call was drained")
	}
	var told callsoas.CallRecord
	if err := told.UnmarshalJSON(<-bodies); err != nil || told.CallID != running || told.Status != callsoas.CallStatusFailed ||
		told.ErrorMessage.Value != r.ErrorMessage.Value {
		t.Errorf("the webhook has %s, %q, %v", told.Status, told.ErrorMessage.Value, err)
	}
	records := 1
	if lateErr == nil { // accepted during the drain: the second server places it
		records = 2
		phone.Await(t, "CALL_ESTABLISHED", 2)
		second.StopCall(t, late.CallID)
		second.Ended(t, late.CallID)
	}
	if calls := second.Calls(t); len(calls) != records {
		t.Errorf("%d records of %d calls", len(calls), records)
	}
	second.Stop(t)
}

// TestShutdownDelay stops a server with a shutdown delay. During the delay, /readyz and OPTIONS must refuse, so that load balancers notice,
// but calls must still be answered. A second signal must end the server.
func TestShutdownDelay(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca})
	s := start(t, ca.CertFile(), "--shutdown-delay", "1h")
	s.AttachInbound(t, ours.String())
	s.Terminate(t)
	await.That(t, "/readyz to refuse", func() bool {
		status, _ := s.Get(t, "/readyz")
		return status == http.StatusServiceUnavailable
	})
	if answer := options(t, s); !strings.HasPrefix(answer, "SIP/2.0 503") {
		t.Errorf("OPTIONS is answered with %s", answer)
	}
	phone.Dial(t, s.Number(ours.String()))
	phone.Await(t, "CALL_ESTABLISHED", 1)
	s.Terminate(t)
	if code := s.ExitCode(t); code == 0 {
		t.Error("the second signal let the server end in peace")
	}
}

// options sends OPTIONS to a server, as the dispatcher of a proxy does, and returns the response.
func options(t *testing.T, s *server.Server) string {
	t.Helper()
	roots := x509.NewCertPool()
	pem, err := os.ReadFile(s.CA)
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		t.Fatal(err)
	}
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: s.SIP.Addr().String(), MinVersion: tls.VersionTLS12}}).
		DialContext(t.Context(), "tcp", s.SIP.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	branch := rand.Text()
	if _, err := fmt.Fprintf(conn, "OPTIONS sip:%s;transport=tls SIP/2.0\r\nVia: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bK%s\r\nMax-Forwards: 70\r\n"+
		"From: <sip:proxy@127.0.0.1>;tag=%s\r\nTo: <sip:%s>\r\nCall-ID: %s\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n",
		s.SIP, branch, branch, s.SIP, branch); err != nil {
		t.Fatal(err)
	}
	var answer strings.Builder
	for lines := bufio.NewReader(conn); !strings.HasSuffix(answer.String(), "\r\n\r\n"); {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("OPTIONS got %q, %v", answer.String(), err)
		}
		answer.WriteString(line)
	}
	return answer.String()
}

// TestNothingIsLeft places many calls that end in different ways, and checks the server's resources. A goroutine, socket or file that leaks
// with each call would exceed the limit.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	const warmUp, rounds, each = 2, 4, 3
	const slack = 8 // for connection and worker pools; less than the calls of one kind
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	plain := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String(), Plain: true})
	s := start(t, ca.CertFile())
	s.AttachOutbound(t, ours.String(), phone.Server())
	s.AttachOutbound(t, "+14155550101", plain.Server())
	s.AttachInbound(t, ours.String())
	answered := brief()
	refused := brief()
	refused.From = callsoas.NewOptString("+14155550101")
	round := func() {
		calls := len(phone.Events("CALL_ESTABLISHED"))
		var ids []string
		for range each {
			ids = append(ids, s.Call(t, answered), s.Call(t, refused))
		}
		for _, id := range ids {
			s.Ended(t, id)
		}
		for i := range each {
			phone.Dial(t, s.Number(ours.String()))
			phone.Await(t, "CALL_ESTABLISHED", calls+each+i+1)
			phone.Hangup(t)
			phone.Await(t, "CALL_CLOSED", calls+each+i+1)
		}
		await.That(t, "the last call to end", func() bool {
			return !slices.ContainsFunc(s.Calls(t), func(c callsoas.CallSummary) bool { return !c.Completed })
		})
	}
	for range warmUp { // opens connections and pools that stay open
		round()
	}
	goroutines, files := s.Metric(t, "go_goroutines"), s.Metric(t, "process_open_fds")
	for range rounds {
		round()
	}
	ok := await.Within(t.Context(), await.Limit, func() bool {
		return s.Metric(t, "callwright_media_sessions") == 0 && s.Metric(t, "callwright_sip_calls") == 0 &&
			s.Metric(t, "go_goroutines") <= goroutines+slack && s.Metric(t, "process_open_fds") <= files+slack
	})
	t.Logf("after %d more calls: goroutines %v, %v before; files %v, %v before", rounds*3*each,
		s.Metric(t, "go_goroutines"), goroutines, s.Metric(t, "process_open_fds"), files)
	if !ok {
		t.Errorf("the server holds %v media sessions and %v calls", s.Metric(t, "callwright_media_sessions"), s.Metric(t, "callwright_sip_calls"))
	}
}
