package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/sipoas"
)

// TestTrunkLife attaches, discovers and test-calls a trunk. Then its primary server fails: the next call must use the secondary server, the
// status must show the failure, and the owner must receive an alert.
func TestTrunkLife(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Config{CA: ca, User: ours.String(), Also: theirs.String()}
	primary, secondary := baresip.Start(t, phone), baresip.Start(t, phone)
	s := start(t, ca.CertFile())
	url, hooks := hook(t, s)
	s.AttachOutbound(t, ours.String(), primary.Server())

	discovers(t, s, primary)
	testCalls(t, s)
	configures(t, s, url, primary, secondary)
	s.StatusUntil(t, ours.String(), "to show two healthy servers", func(st sipoas.SipStatus) bool {
		return st.Status == sipoas.SipHealthStatusHealthy && len(st.Servers) == 2 && st.Servers[0].Active &&
			!slices.ContainsFunc(st.Servers, func(e sipoas.SipServerStatus) bool { return e.Status != sipoas.SipHealthStatusHealthy })
	})

	primary.Kill()
	id := s.Call(t, appointment())
	secondary.Await(t, "CALL_ESTABLISHED", 1)
	failsOver(t, s, id, primary, secondary)
	s.StopCall(t, id)
	st := s.StatusUntil(t, ours.String(), "to show that the primary server is gone", func(st sipoas.SipStatus) bool {
		return st.Servers[0].Status == sipoas.SipHealthStatusUnreachable && st.Servers[1].Active
	})
	if st.Status != sipoas.SipHealthStatusHealthy || st.Servers[0].Active || st.Servers[0].Detail.Value == "" {
		t.Errorf("the status is %+v", st)
	}
	shows(t, s, id)
	warns(t, hooks)
}

// shows checks the timeline of the answered attempt. It must contain the SIP messages but no SRTP key.
func shows(t *testing.T, s *server.Server, id string) {
	t.Helper()
	i := slices.IndexFunc(s.CallLog(t, ours.String()), func(c sipoas.SipCall) bool { return c.ParentCallID.Value == id && c.Attempt.Value == 2 })
	var steps []string
	for _, step := range s.Timeline(t, s.CallLog(t, ours.String())[i].CallID) {
		steps = append(steps, strings.TrimSpace(fmt.Sprint(
			step.Note.Value, " ", step.Method.Value, " ", step.Status.Value, " ", step.Body.Value, step.Detail.Value)))
	}
	told := strings.Join(steps, "\n")
	for _, want := range []string{
		"connected  0 TLS 1.3", "certificate verified (full)", "INVITE 0 PCMU, PCMA, Opus; sendrecv; AES_CM_128_HMAC_SHA1_80", "INVITE 200 PCMU",
		"ACK 0", "BYE 0", "BYE 200",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("the timeline has no %q:\n%s", want, told)
		}
	}
	if strings.Contains(told, "inline") {
		t.Errorf("the timeline shows a key:\n%s", told)
	}
}

// discovers checks that a discovery detects the phone, although the phone answers OPTIONS with 404.
func discovers(t *testing.T, s *server.Server, phone *baresip.Phone) {
	t.Helper()
	port := int(phone.Addr().Port())
	d := s.Discover(t, sipoas.SipDiscoveryStart{
		Host: "127.0.0.1", Port: sipoas.NewOptInt(port), Transport: sipoas.NewOptSipTransport(sipoas.SipTransportTLS),
	})
	r := d.Recommended.Value
	if d.Status != sipoas.SipDiscoveryStatusCompleted || r.Port != port || r.Transport != sipoas.SipTransportTLS ||
		!strings.EqualFold(r.DetectedSystem.Value, "baresip") {
		t.Errorf("discovered %+v", d)
	}
}

// testCalls places a test call to the phone and checks that the phone answers.
func testCalls(t *testing.T, s *server.Server) {
	t.Helper()
	c := s.TestCall(t, ours.String())
	var answered string
	for _, e := range c.Timeline {
		if e.Event == "answered" {
			answered = e.Detail.Value
		}
	}
	if c.Result != sipoas.SipTestCallResultConnected || c.Status != sipoas.SipTestCallStatusCompleted || c.DurationSeconds == 0 ||
		!strings.Contains(answered, "PCMU") || !strings.Contains(answered, "AES_CM_128_HMAC_SHA1_80") ||
		!strings.Contains(answered, "TLS 1.") {
		t.Errorf("the test call went %+v", c)
	}
}

// configures sets a trunk's servers in order of priority, and an alert to a webhook after a minute.
func configures(t *testing.T, s *server.Server, url string, phones ...*baresip.Phone) {
	t.Helper()
	failover := sipoas.SipFailoverConfig{Enabled: true, Failback: sipoas.NewOptSipFailoverConfigFailback(sipoas.SipFailoverConfigFailbackAuto)}
	for i, phone := range phones {
		failover.Endpoints = append(failover.Endpoints, sipoas.SipFailoverEndpoint{
			Host: "127.0.0.1", Port: sipoas.NewOptInt(int(phone.Addr().Port())), Priority: i + 1,
		})
	}
	_, err := s.API.UpdateSipConfig(t.Context(), &sipoas.SipAdvancedConfigUpdate{
		PhoneNumber: ours.String(), Direction: sipoas.SipDirectionOutbound, FailoverConfig: sipoas.NewOptNilSipFailoverConfig(failover),
		AlertConfig: sipoas.NewOptNilSipAlertConfig(sipoas.SipAlertConfig{
			Enabled:    true,
			Thresholds: sipoas.NewOptSipAlertThresholds(sipoas.SipAlertThresholds{UnreachableMinutes: sipoas.NewOptInt(1)}),
			Channels:   sipoas.NewOptSipAlertChannels(sipoas.SipAlertChannels{Webhook: sipoas.NewOptNilString(url)}),
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// failsOver checks that the log contains two attempts of a call: one at each server.
func failsOver(t *testing.T, s *server.Server, id string, primary, secondary *baresip.Phone) {
	t.Helper()
	var attempts []sipoas.SipCall
	await.That(t, "both attempts in the log", func() bool {
		attempts = slices.DeleteFunc(s.CallLog(t, ours.String()), func(c sipoas.SipCall) bool { return c.ParentCallID.Value != id })
		return len(attempts) == 2 && !attempts[1].EndedAt.Null
	})
	second, first := attempts[0], attempts[1]
	if first.Attempt.Value != 1 || first.Server.Value != primary.Addr().String() || !first.SipCode.Null || first.ErrorMessage.Value == "" {
		t.Errorf("the first attempt is %+v", first)
	}
	if second.Attempt.Value != 2 || second.Server.Value != secondary.Addr().String() || second.SourceIP.Value != "127.0.0.1" {
		t.Errorf("the second attempt is %+v", second)
	}
}

// warns waits for the alert and checks it. The test's calls have no webhooks, so the first message is the alert.
func warns(t *testing.T, hooks <-chan []byte) {
	t.Helper()
	// The threshold is a minute. The first probe after this minute triggers the alert.
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var alert struct {
		Event       string     `json:"event"`
		Kind        string     `json:"alert_type"`
		Number      string     `json:"phone_number"`
		Direction   string     `json:"direction"`
		Value       float64    `json:"value"`
		Threshold   float64    `json:"threshold"`
		TriggeredAt *time.Time `json:"triggered_at"`
		ResolvedAt  *time.Time `json:"resolved_at"`
	}
	select {
	case body := <-hooks:
		if err := json.Unmarshal(body, &alert); err != nil {
			t.Fatal(err)
		}
	case <-ctx.Done():
		t.Fatal("nobody was told that the primary server is unreachable")
	}
	if alert.Event != "sip.trunk.alert" || alert.Kind != "unreachable" || alert.Number != ours.String() ||
		alert.Direction != "outbound" || alert.Value < 1 || alert.Threshold != 1 || alert.TriggeredAt == nil || alert.ResolvedAt != nil {
		t.Errorf("the alert is %+v", alert)
	}
}
