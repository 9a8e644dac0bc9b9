package baresip_test

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/speech/pcm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// phones starts two phones that trust the same certificate authority. second configures the callee, and the codec of both.
func phones(t *testing.T, second baresip.Config) (caller, callee *baresip.Phone) {
	t.Helper()
	ca, err := testca.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	second.CA, second.User = ca, "callee"
	return baresip.Start(t, baresip.Config{CA: ca, User: "caller", Codec: second.Codec}), baresip.Start(t, second)
}

// sweep returns a tone that rises from 300 Hz to 3 kHz. Unlike a steady tone, it shows the position of each part.
func sweep(seconds int) pcm.Audio {
	audio := pcm.Audio{Rate: 16000, Channels: 1, Samples: make([]int16, 16000*seconds)}
	phase, rise := 0.0, 2700/float64(len(audio.Samples))
	for i := range audio.Samples {
		phase += (300 + rise*float64(i)) / 16000
		audio.Samples[i] = int16(8000 * (2*abs(2*(phase-float64(int(phase)))-1) - 1))
	}
	return audio
}

func abs(x float64) float64 { return max(x, -x) }

func TestTwoPhonesTalk(t *testing.T) {
	t.Parallel()
	for _, codec := range []string{"PCMU", "PCMA"} {
		t.Run(codec, func(t *testing.T) {
			t.Parallel()
			caller, callee := phones(t, baresip.Config{Codec: codec})
			caller.Dial(t, callee.URI())
			if e := callee.Await(t, "CALL_ESTABLISHED", 1); e.Direction != "incoming" {
				t.Errorf("direction %q", e.Direction)
			}
			if e := caller.Await(t, "CALL_MENC", 1); !strings.HasSuffix(e.Param, "AES_CM_128_HMAC_SHA1_80") {
				t.Errorf("encryption %q", e.Param)
			}
			caller.Await(t, "CALL_ESTABLISHED", 1)
			said := sweep(2)
			callee.Say(t, said)
			callee.Press(t, "5#")
			caller.Hears(t, 3*time.Second)
			caller.Hangup(t)
			callee.AwaitReceived(t, "BYE ")

			match, err := pcm.Compare(said.Samples, said.Rate, caller.Heard(t).Samples, baresip.Rate)
			if err != nil || match.Distance > pcm.SameSpeech {
				t.Errorf("the caller heard what the callee played at distance %.2f, %v", match.Distance, err)
			}
			if got := caller.Digits(); got != "5#" {
				t.Errorf("digits %q", got)
			}
			invite := callee.Received("INVITE ")[0]
			if invite.Transport != "TLS" || !strings.Contains(invite.Text, "RTP/SAVP ") {
				t.Errorf("the call came over %s:\n%s", invite.Transport, invite.Text)
			}
			if len(caller.Received("INVITE ")) > 0 || len(caller.Sent("INVITE ")) != 1 {
				t.Error("the trace does not tell sent from received")
			}
		})
	}
}

func TestPhoneRefuses(t *testing.T) {
	t.Parallel()
	t.Run("by hand", func(t *testing.T) {
		t.Parallel()
		caller, callee := phones(t, baresip.Config{Manual: true})
		caller.Dial(t, callee.URI())
		callee.Await(t, "CALL_INCOMING", 1)
		caller.Await(t, "CALL_RINGING", 1)
		callee.Hangup(t)
		caller.AwaitReceived(t, "SIP/2.0 486")
	})
	t.Run("encrypted media", func(t *testing.T) {
		t.Parallel()
		caller, callee := phones(t, baresip.Config{Plain: true})
		caller.Dial(t, callee.URI())
		caller.AwaitReceived(t, "SIP/2.0 488")
		if len(callee.Sent("SIP/2.0 200")) > 0 {
			t.Error("a phone without SRTP answered")
		}
	})
}

func TestHoldAndResume(t *testing.T) {
	t.Parallel()
	caller, callee := phones(t, baresip.Config{Manual: true})
	caller.Dial(t, callee.URI())
	callee.Await(t, "CALL_INCOMING", 1)
	callee.Accept(t)
	callee.Await(t, "CALL_ESTABLISHED", 1)
	caller.Await(t, "CALL_ESTABLISHED", 1)
	callee.Hold(t)
	if m := caller.AwaitReceived(t, "INVITE "); !strings.Contains(m.Text, "a=sendonly") {
		t.Errorf("a hold without a=sendonly:\n%s", m.Text)
	}
	caller.Await(t, "CALL_REMOTE_SDP", 2)
	callee.Resume(t)
	caller.Await(t, "CALL_REMOTE_SDP", 3)
	callee.Kill()
	if callee.Running() {
		t.Error("a killed phone runs")
	}
}
