package e2e_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/codec/g722"
	"github.com/callwright/callwright/adapters/codec/opus"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/uri"
	"github.com/callwright/callwright/speech/pcm"
)

// These constants are the phone numbers of the tests' calls.
const (
	ours   = callwright.PhoneNumber("+14155550100")
	theirs = callwright.PhoneNumber("+14155550123")
)

// codecs are the codecs of the line, in order of preference.
var codecs = codec.Set{g711.PCMU(), g711.PCMA(), opus.Engine(), g722.Engine()}

// everywhere uses the same route for every outbound and inbound call.
type everywhere struct{ route sip.Route }

func (e everywhere) Outbound(context.Context, callwright.OrgID, callwright.PhoneNumber) (sip.Route, error) {
	return e.route, nil
}

func (e everywhere) Inbound(context.Context, callwright.PhoneNumber, sip.Peer) (sip.Route, error) {
	return e.route, nil
}

// newLine starts a SIP user agent outside of any Callwright server, and returns it with its media. Its outbound calls go to the first peer,
// and fail over to the next.
func newLine(t *testing.T, ca *testca.Authority, peers ...string) (*sipua.UA, *rtpmedia.Media) {
	t.Helper()
	var servers []uri.URI
	for _, peer := range peers {
		server, err := uri.Parse(peer)
		if err != nil {
			t.Fatal(err)
		}
		servers = append(servers, server)
	}
	certificate, err := ca.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	media, err := rtpmedia.New(rtpmedia.Config{IP: netip.MustParseAddr("127.0.0.1"), Codecs: codecs.New})
	if err != nil {
		t.Fatal(err)
	}
	line, err := sipua.New(sipua.Config{
		Listen: "127.0.0.1:0", Certificates: []tls.Certificate{certificate}, Roots: ca.Pool(), Media: media, AllowPrivate: true,
		Routes: everywhere{sip.Route{Org: "o", Number: ours, Servers: servers, Failover: failover.Config{Enabled: true}, Codecs: codecs.Names()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = line.Run(context.Background()) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), await.Limit)
		defer cancel()
		if err := line.Close(ctx); err != nil {
			t.Errorf("closing the line: %v", err)
		}
		if sessions := media.Counters().Sessions; sessions != 0 {
			t.Errorf("%d media sessions are left", sessions)
		}
	})
	return line, media
}

// ear collects the audio and digits from a leg.
type ear struct {
	mu     sync.Mutex
	audio  pcm.Audio
	digits string
	held   bool // the leg was on hold at any time
}

// listen returns an ear that reads the leg until it ends.
func listen(t *testing.T, leg call.Leg) *ear {
	t.Helper()
	e := &ear{audio: pcm.Audio{Rate: leg.Rate(), Channels: 1}}
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		for {
			frame, err := leg.Read(context.Background())
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("reading the call: %v", err)
				}
				return
			}
			e.take(frame)
		}
	}()
	return e
}

func (e *ear) take(frame conversation.Frame) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.audio.Samples = append(e.audio.Samples, frame.In...)
	e.held = e.held || frame.OnHold
	if frame.Digit != 0 {
		e.digits += string(frame.Digit)
	}
}

// heard returns the audio and digits so far, and whether the leg was ever on hold.
func (e *ear) heard() (audio pcm.Audio, digits string, held bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	audio = e.audio
	audio.Samples = slices.Clone(audio.Samples)
	return audio, e.digits, e.held
}

// hears waits until the ear has received d more audio, plus half a second for the delay of the line.
func (e *ear) hears(t *testing.T, d time.Duration) {
	t.Helper()
	before, _, _ := e.heard()
	await.That(t, "the line to hear what is said", func() bool {
		now, _, _ := e.heard()
		return now.Duration() >= before.Duration()+d+500*time.Millisecond
	})
}

func TestLineCallsPhone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"PCMU", "PCMA", "G722", "opus"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ca := authority(t)
			phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String(), Codec: name})
			line, _ := newLine(t, ca, phone.Server())
			var progress []call.Progress
			leg, err := line.Dial(t.Context(), call.DialRequest{Org: "o", From: ours, To: theirs}, func(p call.Progress) { progress = append(progress, p) })
			if err != nil {
				t.Fatal(err)
			}
			if info := leg.Info(); !strings.EqualFold(strings.ReplaceAll(info.Codec, ".", ""), name) || info.SRTPSuite != "AES_CM_128_HMAC_SHA1_80" || info.TLS < "TLS 1.2" {
				t.Errorf("carried by %+v", info)
			}
			ear := listen(t, leg)
			phone.Await(t, "CALL_ESTABLISHED", 1)
			agent, caller := speak(t, agentVoice, "Press one for yes and two for no."), speak(t, callerVoice, "One moment, I am looking for my glasses.")
			phone.Say(t, caller)
			narrow, err := pcm.Resample(agent.Samples, agent.Rate, leg.Rate())
			if err == nil {
				err = leg.Write(t.Context(), narrow)
			}
			if err == nil {
				err = leg.SendDTMF(t.Context(), "0123456789*#")
			}
			if err != nil {
				t.Fatal(err)
			}
			await.That(t, "the phone to have all digits", func() bool { return len(phone.Digits()) >= 12 })
			phone.Press(t, "5*0#")
			ear.hears(t, caller.Duration())
			if err := leg.Hangup(t.Context()); err != nil {
				t.Error(err)
			}
			phone.AwaitReceived(t, "BYE ")

			audio, digits, held := ear.heard()
			if digits != "5*0#" || phone.Digits() != "0123456789*#" || held {
				t.Errorf("received %q, the phone %q, held %v", digits, phone.Digits(), held)
			}
			checkSaid(t, phone.Heard(t), agentVoice, "Press one for yes and two for no.")
			checkSaid(t, audio, callerVoice, "One moment, I am looking for my glasses.")
			if e := leg.Ending(); e.Cause != call.CauseLocalHangup || e.ByPeer {
				t.Errorf("ended by %+v", e)
			}
			if stats := leg.Stats(); stats.Sent == 0 || stats.Received == 0 || stats.Lost > 0 {
				t.Errorf("statistics %+v", stats)
			}
		})
	}
}

func TestPhoneCallsLine(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca})
	line, _ := newLine(t, ca, phone.Server())
	phone.Dial(t, strings.Replace(line.URI(), "sip:", "sip:"+ours.String()+"@", 1))
	pending, err := line.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if offer := pending.Caller(); offer.To != ours || offer.Source == "" {
		t.Errorf("offer %+v", offer)
	}
	phone.Await(t, "CALL_RINGING", 1)
	leg, err := pending.Answer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ear := listen(t, leg)
	phone.Await(t, "CALL_ESTABLISHED", 1)
	phone.Hears(t, time.Second)

	phone.Hold(t)
	phone.Await(t, "CALL_REMOTE_SDP", 2)
	await.That(t, "the answer of a hold to be recvonly", func() bool {
		answers := phone.Received("SIP/2.0 200")
		return strings.Contains(answers[len(answers)-1].Text, "a=recvonly")
	})
	phone.Resume(t)
	phone.Await(t, "CALL_REMOTE_SDP", 3)
	back := speak(t, callerVoice, "I am back from the kitchen.")
	phone.Press(t, "1")
	phone.Say(t, back)
	if err := leg.SendDTMF(t.Context(), "7"); err != nil {
		t.Error(err)
	}
	await.That(t, "the digit at the phone", func() bool { return phone.Digits() == "7" })
	ear.hears(t, back.Duration())
	phone.Hangup(t)
	<-leg.Done()
	audio, digits, held := ear.heard()
	if digits != "1" || !held {
		t.Errorf("digits %q, held %v", digits, held)
	}
	checkSaid(t, audio, callerVoice, "I am back from the kitchen.")
	if e := leg.Ending(); e.Cause != call.CauseRemoteHangup || !e.ByPeer {
		t.Errorf("ended by %+v", e)
	}
}

func TestLineGivesUp(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String(), Manual: true})
	line, media := newLine(t, ca, phone.Server())
	_, err := line.Dial(t.Context(), call.DialRequest{Org: "o", From: ours, To: theirs, Ring: time.Second}, nil)
	if e, ok := errors.AsType[*call.HangupReason](err); !ok || e.Cause != call.CauseNoAnswer {
		t.Errorf("nobody answered, and that gave %v", err)
	}
	phone.AwaitReceived(t, "CANCEL ")
	phone.Await(t, "CALL_CLOSED", 1)
	phone.AwaitSent(t, "SIP/2.0 487")
	if len(phone.Received("BYE ")) > 0 {
		t.Error("a call that was never answered got a BYE")
	}
	await.That(t, "the media to be gone", func() bool { return media.Counters().Sessions == 0 })
}
