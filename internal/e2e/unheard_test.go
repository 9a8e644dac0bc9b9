package e2e_test

import (
	"context"
	"crypto/tls"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
	"github.com/callwright/callwright/sip/uri"
)

// mute is media whose sessions send no audio.
type mute struct{ sip.Media }

type mutedSession struct{ sip.MediaSession }

func (m mute) Open(ctx context.Context) (sip.MediaSession, error) {
	s, err := m.Media.Open(ctx)
	if err != nil {
		return nil, err
	}
	return mutedSession{s}, nil
}

func (s mutedSession) Apply(n sdp.Negotiated) error {
	n.Direction = sdp.RecvOnly
	return s.MediaSession.Apply(n)
}

// TestPhoneIsUnheard checks that a phone that sends no audio hears the whole greeting. Its TLS connection proves its address, so the server
// need not wait for its audio.
func TestPhoneIsUnheard(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	line, media := newLine(t, ca)
	silent := mute{media}
	certificate, err := ca.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	to, err := uri.Parse(line.URI())
	if err != nil {
		t.Fatal(err)
	}
	phone, err := sipua.New(sipua.Config{
		Listen: "127.0.0.1:0", Certificates: []tls.Certificate{certificate}, Roots: ca.Pool(), Media: silent, AllowPrivate: true,
		Routes: everywhere{sip.Route{Org: "o", Number: theirs, Servers: []uri.URI{to}, Codecs: []string{"PCMU"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = phone.Close(context.WithoutCancel(t.Context())) })
	answered := make(chan call.Leg, 1)
	go func() {
		in, err := line.Accept(t.Context())
		if err != nil {
			t.Error(err)
			close(answered)
			return
		}
		leg, err := in.Answer(t.Context())
		if err != nil {
			t.Error(err)
		}
		answered <- leg
	}()
	theirLeg, err := phone.Dial(t.Context(), call.DialRequest{Org: "o", From: theirs, To: ours}, nil)
	if err != nil {
		t.Fatal(err)
	}
	leg := <-answered
	if leg == nil {
		t.FailNow()
	}
	rate := leg.Rate()
	words := make([]int16, 5*rate) // each second has a different volume
	for i := range words {
		words[i] = int16((1+i/rate)*4000) * int16(1-2*(i/20%2))
	}
	ear := listen(t, theirLeg)
	go func() { _ = leg.Write(t.Context(), words) }()
	var elapsed time.Duration
	for sent := uint64(0); sent < 200; sent = leg.Stats().Sent {
		f, err := leg.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if elapsed = f.Elapsed; elapsed > 10*time.Second {
			t.Fatalf("%d packets in %s to a phone that is not heard", sent, elapsed)
		}
	}
	listen(t, leg)
	await.That(t, "the phone to hear the whole greeting", func() bool {
		audio, _, _ := ear.heard()
		for second := 1; second <= 5; second++ {
			loud := int16(second * 4000)
			if !slices.ContainsFunc(audio.Samples, func(s int16) bool { return s > loud-1000 && s < loud+1000 }) {
				return false
			}
		}
		return leg.Queued() == 0
	})
	if err := theirLeg.Hangup(t.Context()); err != nil {
		t.Error(err)
	}
}
