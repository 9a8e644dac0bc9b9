package rtpmedia

import (
	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/rtpmedia/internal/jitter"
	"github.com/callwright/callwright/adapters/rtpmedia/internal/report"
	"github.com/callwright/callwright/adapters/rtpmedia/internal/secure"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

// Apply implements sip.MediaSession. Nothing has changed when it fails.
func (s *session) Apply(n sdp.Negotiated) error {
	if n.LocalCrypto.Key.IsZero() || n.RemoteCrypto.Key.IsZero() {
		return callwright.Invalid("crypto", "media needs an SRTP key of both sides")
	}
	if n.LocalCrypto.Key.Equal(n.RemoteCrypto.Key) {
		return callwright.Invalid("crypto", "both sides have the same SRTP key")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	var fresh *engines // nil: the codec stays
	if s.out.codec == nil || string(n.Codec) != s.codec {
		var err error
		if fresh, err = s.media.engines(string(n.Codec)); err != nil {
			return err
		}
	}
	sealer, err := s.out.sealerFor(n.LocalCrypto)
	if err != nil {
		return callwright.Invalid("crypto", "our SRTP key cannot be used").Because(err)
	}
	if err := s.in.opener.Use(s.now(), n.RemoteCrypto); err != nil {
		return callwright.Invalid("crypto", "the peer's SRTP key cannot be used").Because(err)
	}
	s.change(&n, sealer, fresh)
	return nil
}

// engines are a codec's two halves.
type engines struct{ encoder, decoder sip.Codec }

// engines makes a codec, twice, because neither direction may share its state.
func (m *Media) engines(name string) (*engines, error) {
	encoder, err := m.cfg.Codecs(name)
	if err != nil {
		return nil, err
	}
	decoder, err := m.cfg.Codecs(name)
	if err != nil {
		return nil, err
	}
	if encoder.Rate() < 50 || encoder.Clock() < 50 || encoder.Rate()%50 != 0 || encoder.Clock()%50 != 0 {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "codec %s has no whole samples in 20 ms", name)
	}
	return &engines{encoder, decoder}, nil
}

// change takes over what is known to be possible; e is nil when the codec stays. Goroutines see all of it or nothing.
func (s *session) change(n *sdp.Negotiated, sealer *secure.Sealer, e *engines) {
	if e != nil {
		s.recode(string(n.Codec), e)
	}
	s.out.seal(sealer, n.LocalCrypto)
	s.in.expect(n)
	s.out.payload, s.out.events, s.out.hasEvents = n.Payload.Send, n.Events.Send, n.HasEvents()
	s.out.allowed = n.Direction.CanSend() && n.RemoteRTP.Port() != 0 && !n.RemoteRTP.Addr().IsUnspecified()
	if !s.out.hasEvents {
		s.queue.failDigits(errNoEvents)
	}
	s.held = n.RemoteHold
	s.paused = n.RemoteHold || n.LocalHold || !n.Direction.CanReceive()
	s.in.alive, s.timedOut = s.now(), false
	s.log.Info("media negotiated", "media", *n)
	if !s.paced {
		s.paced = true
		s.control.next = s.now() + report.Interval(random(), true)
		s.running.Add(1)
		go s.pace()
	}
}

// recode changes to a codec. Queued audio of another rate cannot be played any more.
func (s *session) recode(name string, e *engines) {
	rate, clock := e.encoder.Rate(), e.encoder.Clock()
	if rate != s.rate {
		s.queue.flush()
		wake(s.room)
	}
	s.codec, s.rate = name, rate
	s.out.encode(e.encoder)
	bounds := s.media.cfg.Jitter
	s.in.player = jitter.NewPlayer(jitter.Format{Decoder: e.decoder, Rate: rate, Clock: clock}, bounds.Least, bounds.Most)
	s.in.stats.Clock(clock)
}
