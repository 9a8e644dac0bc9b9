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

// session holds the audio of one call. It implements sip.MediaSession.
type session struct {
	media   *Media
	log     *slog.Logger
	sockets *sockets
	began   time.Time // origin of all time.Duration values in the session; monotonic
	wall    time.Time // wall clock time at began
	cname   string

	mu       sync.Mutex
	codecs   []string // SDP names: our codec, then others that the peer may send; empty before Apply
	rate     int
	in       receiver
	out      sender
	queue    playout
	frames   frames
	control  control
	unproven allowance
	held     bool          // the peer holds the call
	paused   bool          // a side holds the call or we do not receive, so the peer may be silent
	watched  time.Duration // when watch was called last
	timedOut bool
	closed   bool
	paced    bool          // the pacer has been started
	first    time.Duration // when the first frame was due

	ready   chan struct{} // wakes Read after each tick
	room    chan struct{} // wakes Write when at most 200 ms are queued
	done    chan struct{} // closed by Close
	running sync.WaitGroup
	finish  sync.Once
}

var errClosed = callwright.Errorf(callwright.CodeInvalidState, "the media session is closed")

// start returns a session that reads its sockets. Its log lines contain the attributes that callwright.WithLog has added to ctx, such as
// the call's ID.
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

// Local implements sip.MediaSession. It returns Config.Advertise and the RTP port.
func (s *session) Local() netip.AddrPort {
	return netip.AddrPortFrom(s.media.cfg.Advertise, s.sockets.port)
}

// Rate implements sip.MediaSession. The rate of the first codec applies to the whole session.
func (s *session) Rate() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rate
}

// listen calls the function take for each datagram of a socket until the socket is closed. After another error it waits for 20 ms.
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
		default: // transient, such as an ICMP error on some systems, but must not cause a busy loop
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

// outgoing holds the packets that a tick sends, and their destinations. The RTP packets are valid until the next tick.
type outgoing struct {
	rtp           [][]byte
	rtcp          []byte
	toRTP, toRTCP netip.AddrPort
}

// tick plays both directions of frame n, which is due at the given time, and returns the packets to send.
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

// present queues a frame for Read: the received audio, the sent audio, and the digits that begin.
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

// watch updates timedOut, which is set while a peer has been silent for too long. Time on hold counts against Timeouts.Held only.
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

// transmit sends the packets of a tick. It ignores network errors, because an unreachable peer becomes silent and times out.
func (s *session) transmit(o outgoing) {
	for _, packet := range o.rtp {
		_, _ = s.sockets.rtp.WriteToUDPAddrPort(packet, o.toRTP)
	}
	if o.rtcp != nil && o.toRTCP.IsValid() && !o.toRTCP.Addr().IsUnspecified() {
		_, _ = s.sockets.rtcp.WriteToUDPAddrPort(o.rtcp, o.toRTCP)
	}
}

// wake wakes a goroutine that waits for c, or the next one that will wait. It never blocks.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Read implements sip.MediaSession. A reader that is more than 200 ms late misses frames, as Frame.Elapsed shows.
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

// limit returns the maximum number of queued samples for which Write does not wait: 200 ms of audio.
func (s *session) limit() int { return s.rate / 5 }

// Write implements sip.MediaSession. It queues all samples immediately, so that Queued and Flush include them. The samples stay queued if
// ctx ends while Write waits. While the peer holds the call, nothing is played, so Write may wait for the whole hold.
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

// PlayBackground implements sip.BackgroundPlayer.
func (s *session) PlayBackground(loop []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.loop, s.out.loopAt = loop, 0
}

// Queued implements sip.MediaSession. It counts samples at the session's rate.
func (s *session) Queued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.queued()
}

// Flush implements sip.MediaSession. It does not drop the digits of SendDTMF.
func (s *session) Flush() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	wake(s.room)
	return s.queue.flush()
}

// SendDTMF implements sip.MediaSession. If ctx ends, the current digit is still sent completely, and the others are dropped.
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

var errNoEvents = callwright.Errorf(callwright.CodeUnavailable, "digits cannot be sent, because the peer does not accept telephone events (RFC 4733)")

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

// sends returns the SDP name of the codec that we send, or an empty string before Apply. The caller must hold the mutex.
func (s *session) sends() string {
	if len(s.codecs) == 0 {
		return ""
	}
	return s.codecs[0]
}

// Close implements sip.MediaSession. It sends an RTCP BYE if any packet was sent, and returns the ports to the pool.
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
