package e2e_test

import (
	"context"
	"crypto/tls"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/internal/e2e/await"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
	"github.com/callwright/callwright/sip/uri"
)

// mute is media whose sessions send nothing until their test lets them.
type mute struct {
	sip.Media

	mu       sync.Mutex
	sessions []*mutedSession
}

type mutedSession struct {
	sip.MediaSession

	mu      sync.Mutex
	agreed  sdp.Negotiated
	applied bool
}

func (m *mute) Open(ctx context.Context) (sip.MediaSession, error) {
	s, err := m.Media.Open(ctx)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions = append(m.sessions, &mutedSession{MediaSession: s})
	return m.sessions[len(m.sessions)-1], nil
}

func (s *mutedSession) Apply(n sdp.Negotiated) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agreed, s.applied = n, true
	return nil
}

// unmute lets all sessions send.
func (m *mute) unmute(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.sessions {
		s.mu.Lock()
		if s.applied {
			if err := s.MediaSession.Apply(s.agreed); err != nil {
				t.Error(err)
			}
		}
		s.mu.Unlock()
	}
}

// A phone that takes a call and sends nothing gets a second of the greeting and then next to nothing, because the address
// that it names may be anybody's. As soon as it is heard the greeting goes on, and nothing of it is lost.
func TestPhoneIsUnheard(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	line, media := newLine(t, ca)
	silent := &mute{Media: media}
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
	words := make([]int16, 5*rate) // each second of another loudness
	for i := range words {
		words[i] = int16((1+i/rate)*4000) * int16(1-2*(i/20%2))
	}
	writing := make(chan error, 1)
	go func() { writing <- leg.Write(t.Context(), words) }()
	var elapsed time.Duration
	for elapsed < 3*time.Second {
		f, err := leg.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		elapsed = f.Elapsed
	}
	if sent := leg.Stats().Sent; sent < 50 || sent > 50+uint64(elapsed/time.Second)+2 {
		t.Errorf("%d packets in %s to a phone that is not heard", sent, elapsed)
	}
	listen(t, leg)
	silent.unmute(t)
	ear := listen(t, theirLeg)
	if err := <-writing; err != nil {
		t.Error(err)
	}
	await.That(t, "the phone to hear the rest of the greeting", func() bool {
		audio, _, _ := ear.heard()
		for second := 2; second <= 5; second++ {
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
