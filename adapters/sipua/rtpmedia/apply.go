package rtpmedia

import (
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/jitter"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/report"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/secure"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

// Apply implements sip.MediaSession. If it returns an error, it has changed nothing.
func (s *session) Apply(n sdp.Negotiated) error {
	if n.LocalCrypto.Key.IsZero() || n.RemoteCrypto.Key.IsZero() {
		return callwright.Invalid("crypto", "must have an SRTP key for each side")
	}
	if n.LocalCrypto.Key.Equal(n.RemoteCrypto.Key) {
		return callwright.Invalid("crypto", "must have a different SRTP key on each side")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	var fresh *engines // nil if the codecs do not change
	if names := codecsOf(&n); !slices.Equal(names, s.codecs) {
		var err error
		if fresh, err = s.engines(names); err != nil {
			return err
		}
	}
	sealer, err := s.out.sealerFor(n.LocalCrypto)
	if err != nil {
		return callwright.Invalid("crypto", "our SRTP key cannot be used").Because(err)
	}
	moved := sealer != s.out.sealer && s.out.sealer != nil && !s.in.opener.Opens(n.RemoteCrypto)
	opener := &s.in.opener
	if moved {
		opener = &secure.Opener{}
	}
	if err := opener.Use(s.now(), n.RemoteCrypto); err != nil {
		return callwright.Invalid("crypto", "the peer's SRTP key cannot be used").Because(err)
	}
	s.change(&n, sealer, fresh)
	if moved {
		s.out.begin()
		s.in.begin(s.now(), opener)
	}
	return nil
}

// codecsOf returns the names of the codec that we send, followed by the other codecs that the peer may send.
func codecsOf(n *sdp.Negotiated) []string {
	names := []string{string(n.Codec)}
	for _, other := range n.Others {
		names = append(names, string(other.Codec))
	}
	return names
}

// engines holds an encoder for our audio and a decoder for each codec of the peer. The decoders return audio with the session's sample
// rate.
type engines struct {
	names    []string
	encoder  sip.Codec
	narrow   *converter // from the session's rate to the encoder's; nil if they are equal
	decoders []jitter.Decoder
	clocks   []int // RTP clock rates of the decoders
	rate     int   // sample rate of the session
}

// engines creates the codecs with the given names. The first codec is created twice, because the directions share no state. The first codec
// of a session determines the session's sample rate, and the audio of later codecs is resampled.
func (s *session) engines(names []string) (*engines, error) {
	m := s.media
	encoder, err := m.cfg.Codecs(names[0])
	if err != nil {
		return nil, err
	}
	if encoder.Rate() < 50 || encoder.Clock() < 50 || encoder.Rate()%50 != 0 || encoder.Clock()%50 != 0 {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "the codec %s must have a sample rate and an RTP clock rate that are multiples of 50 Hz", names[0])
	}
	e := &engines{names: names, encoder: encoder, rate: s.rate}
	if len(s.codecs) == 0 {
		e.rate = encoder.Rate()
	}
	if e.narrow, err = newConverter(e.rate, encoder.Rate()); err != nil {
		return nil, err
	}
	for _, name := range names {
		decoder, err := m.cfg.Codecs(name)
		if err != nil {
			return nil, err
		}
		at, err := resampled(decoder, e.rate)
		if err != nil {
			return nil, err
		}
		e.decoders, e.clocks = append(e.decoders, at), append(e.clocks, decoder.Clock())
	}
	return e, nil
}

// change applies validated parameters, and starts the session's pacer if it does not run yet. e is nil if the codecs do not change. The
// caller must hold the mutex, so that other goroutines see the whole change or none of it.
func (s *session) change(n *sdp.Negotiated, sealer *secure.Sealer, e *engines) {
	if e != nil {
		s.recode(e)
	}
	s.out.seal(sealer, n.LocalCrypto)
	s.in.expect(n)
	s.out.payload, s.out.events, s.out.hasEvents = n.Payload.Send, n.Events.Send, n.HasEvents()
	s.out.eventTick = n.EventClock / 50
	s.out.pack(n.Ptime)
	s.out.allowed = n.Direction.CanSend() && n.RemoteRTP.Port() != 0 && !n.RemoteRTP.Addr().IsUnspecified()
	if !s.out.hasEvents {
		s.queue.failDigits(errNoEvents)
	}
	s.held = n.RemoteHold
	s.paused = n.RemoteHold || n.LocalHold || !n.Direction.CanReceive()
	s.log.Info("media negotiated", "media", *n)
	if !s.paced {
		s.paced, s.watched = true, s.now()
		s.in.touch(s.watched)
		s.control.next = s.watched + report.Interval(random(), true)
		s.running.Add(1)
		go s.pace()
	}
}

// recode replaces the codecs of both directions. The caller must hold the mutex.
func (s *session) recode(e *engines) {
	s.codecs, s.rate = e.names, e.rate
	s.out.encode(e)
	s.in.decode(e, s.media.cfg.Jitter)
}
