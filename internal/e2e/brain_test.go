package e2e_test

import (
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/process"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// TestRemoteBrain has the Python example lead a call, with requests that are signed with the organization's secret. The record contains what
// the example has set, and its requests. When the example is away, the caller of the next call hears an apology, and the record says why.
func TestRemoteBrain(t *testing.T) {
	t.Parallel()
	const asks, thanks = "Hello. What is your customer number?", "Thank you. Somebody will call you back. Goodbye."
	board, flags := newSwitchboard(t, func(asked) []string { return nil })
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), flags...)
	s.AttachOutbound(t, ours.String(), phone.Server())
	address, program := serveExample(t, s.WebhookSecret(t))

	request := appointment()
	request.Task, request.FirstSentence = callsoas.OptString{}, callsoas.OptString{}
	request.BrainURL = callsoas.NewOptString("http://" + address + "/turns?key=hunter")
	id := s.Call(t, request)
	says(t, s, id, asks)
	board.hears("1 2 3 4 5")
	phone.Say(t, speak(t, callerVoice, "One two three four five."))
	r := s.Ended(t, id)
	if said := lines(r, callsoas.TranscriptLineUserAssistant); !slices.Equal(said, []string{asks, thanks}) {
		t.Errorf("the agent said %q", said)
	}
	checkSaid(t, phone.Heard(t), agentVoice, asks, thanks)
	if got := string(r.Variables["customer"]); got != `"12345"` || r.CallEndedBy.Value != callsoas.CallRecordCallEndedByASSISTANT {
		t.Errorf("the customer is %s, ended by %s", got, r.CallEndedBy.Value)
	}
	requests := 0
	for _, l := range r.PathwayLogs {
		if strings.Contains(l.PathwayInfo.Value, `"brain"`) {
			requests++
		}
	}
	if requests < 2 {
		t.Errorf("the record lists %d requests: %+v", requests, r.PathwayLogs)
	}

	program.Kill()
	r = s.Ended(t, s.Call(t, request))
	apology := dialogue.Lines{}.Filled("en").Apology
	if said := strings.Join(lines(r, callsoas.TranscriptLineUserAssistant), " "); said != apology || r.Status != callsoas.CallStatusFailed {
		t.Errorf("without the brain the agent said %q, and the call is %s", said, r.Status)
	}
	if why := r.ErrorMessage.Value; !strings.Contains(why, "the brain cannot be asked") || strings.Contains(why, "hunter") {
		t.Errorf("the record says %q", why)
	}
}

// serveExample runs the Python example, and returns its address.
func serveExample(t *testing.T, secret string) (address string, p *process.Process) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	_ = l.Close()
	c := exec.CommandContext(t.Context(), "python3", "../../examples/brains/brain.py")
	c.Env = append(os.Environ(), "SECRET="+secret, "PORT="+address[strings.LastIndex(address, ":")+1:])
	p = process.Start(t, "brain.py", c, "")
	await.That(t, "the example to listen", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return address, p
}
