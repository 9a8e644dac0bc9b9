package rtpmedia

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/dtmf"
	"github.com/callwright/callwright/sip"
)

// session is one call's audio. It implements sip.MediaSession.
type session struct {
	media   *Media
	log     *slog.Logger
	sockets *sockets
	began   time.Time // monotonic zero of all times in the session
	wall    time.Time // the wall clock then
	cname   string

	mu       sync.Mutex
	codecs   []string // SDP names, none before Apply: our codec, and others that the peer may send
	rate     int
	in       receiver
	out      sender
	queue    playout
	frames   frames
	control  control
	unproven allowance
	held     bool          // the peer holds us
	paused   bool          // one side holds the other: the peer may be silent
	watched  time.Duration // when a peer's death was looked for last
	timedOut bool
	closed   bool
	paced    bool          // the pacer runs
	first    time.Duration // when the first frame was due

	ready   chan struct{} // a frame has come, or the peer has died
	room    chan struct{} // the queue has become short enough for Write
	done    chan struct{} // closed by Close
	running sync.WaitGroup
	finish  sync.Once
}

var errClosed = callwright.Errorf(callwright.CodeInvalidState, "the media session is closed")

// start starts a session, which reads its sockets from now on. Its log lines contain the attributes that callwright.WithLog put into ctx, such as the
// call's id.
func (m *Media) start(ctx context.Context, pair *sockets) *session {
	s := &session{
		media: m, sockets: pair, began: time.Now(), wall: m.cfg.Clock.Now(), cname: newCNAME(),
		log:   slog.New(m.cfg.Logger.Handler().WithAttrs(append(callwright.LogAttrs(ctx), slog.Int("media_port", int(pair.port))))),
		rate:  8000,
		ready: make(chan struct{}, 1), room: make(chan struct{}, 1), done: make(chan struct{}),
	}
	m.sessions.Add(1)
	s.running.Add(2)
	go s.listen(pair.rtp, s.receiveRTP)
	go s.listen(pair.rtcp, s.receiveRTCP)
	return s
}

// now returns the time since the session began.
func (s *session) now() time.Duration { return time.Since(s.began) }

// Local implements sip.MediaSession.
func (s *session) Local() netip.AddrPort {
	return netip.AddrPortFrom(s.media.cfg.Advertise, s.sockets.port)
}

// Rate implements sip.MediaSession.
func (s *session) Rate() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rate
}

// listen reads a socket until it is closed.
func (s *session) listen(c conn, take func(time.Duration, []byte, netip.AddrPort)) {
	defer s.running.Done()
	const mtu = 1500
	buffer := make([]byte, mtu)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buffer)
		switch {
		case err == nil:
			take(s.now(), buffer[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
		case errors.Is(err, net.ErrClosed):
			return
		default: // such as an ICMP error on some systems: transient, but must not become a busy loop
			select {
			case <-s.done:
				return
			case <-time.After(frameTime):
			}
		}
	}
}

func (s *session) receiveRTP(now time.Duration, datagram []byte, from netip.AddrPort) {
	s.mu.Lock()
	moved := len(s.codecs) > 0 && s.in.receiveRTP(now, datagram, from)
	s.mu.Unlock()
	if moved {
		s.log.Info("the peer's media comes from another address than before", "remote", from)
	}
}

func (s *session) receiveRTCP(now time.Duration, datagram []byte, from netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.codecs) > 0 {
		if heard, ok := s.in.receiveRTCP(now, s.ntp(now), s.out.ssrc, datagram, from); ok {
			s.control.hear(heard)
		}
	}
}

// outgoing holds the packets to send at a tick. The slices are valid until the next tick.
type outgoing struct {
	rtp           [][]byte
	rtcp          []byte
	toRTP, toRTCP netip.AddrPort
}

// tick plays frame n, which is due at now.
func (s *session) tick(now time.Duration, n int64) outgoing {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n == 0 {
		s.first = now
	}
	may := s.unproven.frame(s.in.proven(s.in.actual.rtp), s.out.allowed && s.in.actual.rtp.IsValid(), s.out.cost())
	packets, played, err := s.out.next(n, &s.queue, may)
	if err != nil {
		s.log.Error("a media packet could not be made", "error", err)
	}
	if s.queue.queued() <= s.limit() {
		wake(s.room)
	}
	s.watch(now)
	if !s.timedOut {
		s.present(now, played)
	}
	wake(s.ready)
	return outgoing{rtp: packets, toRTP: s.in.actual.rtp, rtcp: s.reportDue(now), toRTCP: s.in.actual.rtcp}
}

// present passes both sides of a frame to Read.
func (s *session) present(now time.Duration, played []int16) {
	slot, dropped := s.frames.add()
	if dropped {
		s.media.dropped.Add(1)
	}
	slot.in = s.in.frame(slot.in, now)
	slot.out, slot.played = append(slot.out, played...), played != nil
	if fault, fresh := s.in.deaf.tell(); fresh {
		s.log.Warn("the peer's audio cannot be heard", "fault", fault)
	}
	slot.held, slot.elapsed = s.held, now-s.first
	s.frames.begin(s.in.digits, slot.elapsed)
	s.in.digits = s.in.digits[:0]
}

// watch notices a dead peer. A peer that comes back is heard again. Time on hold counts by itself.
func (s *session) watch(now time.Duration) {
	limits, since := &s.media.cfg.Timeouts, now-s.watched
	s.watched = now
	if s.paused {
		s.in.alive += since
		s.in.onHold += since
	}
	limit := limits.First
	if s.in.heard {
		limit = limits.Between
	}
	dead := now-s.in.alive > limit || s.in.onHold > limits.Held
	if dead && !s.timedOut {
		s.log.Warn("nothing authentic has come from the peer for too long",
			"silent", now-s.in.alive, "on_hold", s.in.onHold, "bad", s.in.bad)
	}
	s.timedOut = dead
}

// transmit sends the packets of a tick. Errors of the network are ignored: the silence of the peer shows them.
func (s *session) transmit(o outgoing) {
	for _, packet := range o.rtp {
		_, _ = s.sockets.rtp.WriteToUDPAddrPort(packet, o.toRTP)
	}
	if o.rtcp != nil && o.toRTCP.IsValid() && !o.toRTCP.Addr().IsUnspecified() {
		_, _ = s.sockets.rtcp.WriteToUDPAddrPort(o.rtcp, o.toRTCP)
	}
}

// wake wakes one waiter.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Read implements sip.MediaSession. A reader that falls behind by more than 200 ms misses frames, which Elapsed shows.
func (s *session) Read(ctx context.Context) (sip.Frame, error) {
	for {
		s.mu.Lock()
		closed, timedOut := s.closed, s.timedOut
		var f sip.Frame
		var ok bool
		if !closed {
			f, ok = s.frames.pop()
		}
		s.mu.Unlock()
		switch {
		case ok:
			return f, nil
		case closed:
			return sip.Frame{}, io.EOF
		case timedOut:
			return sip.Frame{}, sip.ErrMediaTimeout
		}
		select {
		case <-ctx.Done():
			return sip.Frame{}, ctx.Err()
		case <-s.ready:
		case <-s.done:
		}
	}
}

// limit returns the number of queued samples up to which Write does not wait: 200 ms.
func (s *session) limit() int { return s.rate / 5 }

// Write implements sip.MediaSession. All samples are queued immediately, so that Queued and Flush see them; when ctx ends the wait
// they stay queued. While the peer holds us nothing is played, so Write waits that long.
func (s *session) Write(ctx context.Context, samples []int16) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for first := true; ; first = false {
		s.mu.Lock()
		closed := s.closed
		if first && !closed {
			s.queue.push(samples)
		}
		full := s.queue.queued() > s.limit()
		s.mu.Unlock()
		switch {
		case closed:
			return errClosed
		case !full:
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.room:
		case <-s.done:
		}
	}
}

// Queued implements sip.MediaSession.
func (s *session) Queued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.queued()
}

// Flush implements sip.MediaSession.
func (s *session) Flush() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	wake(s.room)
	return s.queue.flush()
}

// SendDTMF implements sip.MediaSession. When ctx ends, the digit that is being sent is still ended properly.
func (s *session) SendDTMF(ctx context.Context, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errClosed
	}
	if !s.out.hasEvents {
		s.mu.Unlock()
		return errNoEvents
	}
	sequence, err := dtmf.NewSequence(text, s.out.eventTick)
	if err != nil || sequence.Done() {
		s.mu.Unlock()
		return err
	}
	sent := s.queue.pushDigits(sequence)
	s.mu.Unlock()
	select {
	case <-sent.done:
		return sent.err
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		sequence.Stop()
		return ctx.Err()
	}
}

var errNoEvents = callwright.Errorf(callwright.CodeUnavailable, "the peer does not accept telephone-events")

// Stats implements sip.MediaSession.
func (s *session) Stats() sip.MediaStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sip.MediaStats{
		Codec: s.sends(), Sent: s.out.total, Received: s.in.stats.Received(),
		Lost: s.in.stats.Lost(), Late: s.in.late, Bad: s.in.bad,
		Jitter: s.in.stats.Jitter(), RoundTrip: s.control.roundTrip, PeerLost: s.control.peerLost,
		Fault: s.in.deaf.fault,
	}
}

// sends returns the name of our codec, empty before Apply.
func (s *session) sends() string {
	if len(s.codecs) == 0 {
		return ""
	}
	return s.codecs[0]
}

// Close implements sip.MediaSession.
func (s *session) Close() error {
	s.finish.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.queue.failDigits(errClosed)
		goodbye := s.goodbye(s.now())
		s.mu.Unlock()
		close(s.done)
		s.transmit(goodbye)
		s.sockets.close()
		s.running.Wait()
		s.media.ports.give(s.sockets.port)
		s.media.sessions.Add(-1)
	})
	return nil
}
