package siptest

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

// MediaSetup is a sip.Media under test and the network of its sessions.
type MediaSetup struct {
	Media sip.Media
	// Codecs makes the codecs of Media. PCMU and PCMA are required.
	Codecs sip.Codecs
	// Listen opens a socket that Media's sessions can send to and receive from.
	Listen func() (Socket, error)
	// Pairs is the number of port pairs of Media, which limits its concurrent sessions. If 0, the limit is not tested.
	Pairs int
	// Bubble states that the test runs in a bubble of testing/synctest, where waiting consumes no real time. If set, the suite also tests
	// behavior that lasts minutes.
	Bubble bool
}

// Socket is a UDP socket, for example a *net.UDPConn.
type Socket interface {
	ReadFromUDPAddrPort(b []byte) (n int, from netip.AddrPort, err error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
	LocalAddr() net.Addr
	Close() error
}

// RunMedia tests how a sip.Media opens and closes sessions. It calls the function in the parameter in once for each test. This function
// must call test with a new Media, inside or outside a bubble of testing/synctest, and then close the Media and its network.
// RunMediaSession tests the sessions themselves.
func RunMedia(t *testing.T, in func(t *testing.T, test func(t *testing.T, m MediaSetup))) {
	t.Helper()
	runMedia(t, in, map[string]func(*testing.T, MediaSetup){
		"opens sessions on pairs of ports": opensPairs,
		"takes nothing when it cannot":     takesNothing,
		"frees the ports of a session":     freesPorts,
	})
}

// RunMediaSession tests the sessions of a sip.Media. Each test is a call between two sessions over a relay. For the parameter in, see
// RunMedia.
func RunMediaSession(t *testing.T, in func(t *testing.T, test func(t *testing.T, m MediaSetup))) {
	t.Helper()
	runMedia(t, in, map[string]func(*testing.T, MediaSetup){
		"carries audio both ways":                carriesAudio,
		"shows both sides on one clock":          showsOneClock,
		"conceals and counts what is lost":       concealsLoss,
		"bounds and flushes the queue":           boundsQueue,
		"mixes a background":                     mixesBackground,
		"goes on after a read that was given up": readsAfterCancel,
		"sends digits after the audio":           sendsDigits,
		"keeps digits for a slow reader":         keepsDigits,
		"refuses digits that cannot be sent":     refusesDigits,
		"holds and goes on":                      holdsAndGoesOn,
		"changes the codec":                      changesCodec,
		"hears what else was answered":           hearsOthers,
		"names audio that it cannot decode":      namesFault,
		"refuses media without SRTP":             refusesPlainMedia,
		"sends nothing in the clear":             sendsNothingClear,
		"hears nothing under another key":        hearsNoOtherKey,
		"ignores hostile packets":                ignoresHostility,
		"sends little before it is heard":        sparesTheUnheard,
		"sends all to a proven address":          trustsTheProven,
		"reports on the call":                    reportsOnCall,
		"notices a dead peer":                    noticesDeadPeer,
		"closes once and for all":                closesForGood,
	})
}

func runMedia(
	t *testing.T, in func(*testing.T, func(*testing.T, MediaSetup)), tests map[string]func(*testing.T, MediaSetup),
) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in(t, test)
		})
	}
}

// mediaLimit is the time limit for one step of a call. Only a broken adapter needs nearly as long.
const mediaLimit = 30 * time.Second

// mediaFrame is the duration of the audio in a frame.
const mediaFrame = 20 * time.Millisecond

// mediaCall is a call between two sessions with a relay between them.
type mediaCall struct {
	MediaSetup

	t                testing.TB
	caller, callee   sip.MediaSession
	offer, answer    *sdp.Description
	callers, callees sdp.Negotiated
	net              *relay
}

// newMediaCall opens two sessions and negotiates, but does not apply the result. The end of the test closes both sessions.
func newMediaCall(t testing.TB, m MediaSetup) *mediaCall {
	t.Helper()
	c := &mediaCall{MediaSetup: m, t: t, caller: openSession(t, m), callee: openSession(t, m)}
	c.net = newRelay(t, m, c.caller.Local(), c.callee.Local())
	c.negotiate(nil, nil)
	return c
}

func openSession(t testing.TB, m MediaSetup) sip.MediaSession {
	t.Helper()
	s, err := m.Media.Open(context.Background())
	if err != nil {
		t.Fatalf("opening a session: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing a session: %v", err)
		}
	})
	return s
}

// negotiate makes an offer and an answer, and replaces the remote addresses by the relay's. The functions caller and callee change the
// capabilities of their side, unless they are nil.
func (c *mediaCall) negotiate(caller, callee func(*sdp.Capabilities)) {
	c.t.Helper()
	capable := func(s sip.MediaSession, previous *sdp.Description, change func(*sdp.Capabilities)) sdp.Capabilities {
		can := sdp.Capabilities{Media: s.Local(), Codecs: []sdp.Codec{sdp.PCMU}, Previous: previous}
		if change != nil {
			change(&can)
		}
		return can
	}
	var err error
	if c.offer, err = sdp.Offer(capable(c.caller, c.offer, caller)); err != nil {
		c.t.Fatal(err)
	}
	if c.answer, c.callees, err = sdp.Answer(capable(c.callee, c.answer, callee), c.offer); err != nil {
		c.t.Fatal(err)
	}
	if c.callers, err = sdp.Accept(c.offer, c.answer); err != nil {
		c.t.Fatal(err)
	}
	for _, n := range []*sdp.Negotiated{&c.callers, &c.callees} {
		n.RemoteRTP, n.RemoteRTCP = c.net.rtp.at, c.net.rtcp.at
	}
}

// apply applies the negotiated descriptions to both sessions.
func (c *mediaCall) apply() {
	c.t.Helper()
	if err := errors.Join(c.callee.Apply(c.callees), c.caller.Apply(c.callers)); err != nil {
		c.t.Fatalf("applying what was negotiated: %v", err)
	}
}

// listen reads a session in the background. stop ends the reading and returns the received digits.
func listen(s sip.MediaSession) (stop func() (digits string)) {
	ctx, cancel := context.WithCancel(context.Background())
	var digits []byte
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			f, err := s.Read(ctx)
			if err != nil {
				return
			}
			if f.Digit != 0 {
				digits = append(digits, f.Digit)
			}
		}
	}()
	return func() string {
		cancel()
		<-done
		return string(digits)
	}
}

// until reads a session until a frame satisfies wanted. It fails the test if a read fails, or after mediaLimit. The failure message
// describes the condition with the text in the parameter what.
func (c *mediaCall) until(s sip.MediaSession, what string, wanted func(f sip.Frame) bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), mediaLimit)
	defer cancel()
	for {
		f, err := s.Read(ctx)
		if err != nil {
			c.t.Fatalf("waiting for %s: %v", what, err)
		}
		if wanted(f) {
			return
		}
	}
}

// pass reads one frame more than the given number from a session, and discards the frames.
func (c *mediaCall) pass(s sip.MediaSession, frames int) {
	c.t.Helper()
	c.until(s, "frames to pass", func(sip.Frame) bool {
		frames--
		return frames < 0
	})
}

// spoken returns distinct frames of speech. The result said contains all samples, and the result heard contains the decoded samples of each
// frame.
func (c *mediaCall) spoken(codec sdp.Codec, frames int) (said []int16, heard [][]int16) {
	c.t.Helper()
	for n := range frames {
		engine, err := c.Codecs(string(codec))
		if err != nil {
			c.t.Fatal(err)
		}
		frame := make([]int16, engine.Rate()/50)
		for i := range frame {
			frame[i] = int16(int8((n*37+i*11)%200-100)|1) << 8
		}
		decoded, err := engine.Decode(nil, encode(c.t, engine, frame))
		if err != nil {
			c.t.Fatal(err)
		}
		said, heard = append(said, frame...), append(heard, decoded)
	}
	return said, heard
}

// hears repeats the same audio on one side until the other side has received each frame whole and unchanged. Because the audio repeats,
// frames lost on a busy machine do not fail the test.
func (c *mediaCall) hears(from, to sip.MediaSession, codec sdp.Codec) {
	c.t.Helper()
	said, heard := c.spoken(codec, 10)
	ctx, cancel := context.WithCancel(context.Background())
	var talking sync.WaitGroup
	talking.Go(func() {
		for from.Write(ctx, said) == nil {
		}
	})
	stop := listen(from)
	defer func() {
		cancel()
		from.Flush()
		talking.Wait()
		stop()
	}()
	missing := heard
	c.until(to, "what is said to be heard", func(f sip.Frame) bool {
		missing = slices.DeleteFunc(slices.Clone(missing), func(frame []int16) bool { return slices.Equal(frame, f.In) })
		return len(missing) == 0
	})
}

func opensPairs(t *testing.T, m MediaSetup) {
	ports := map[netip.AddrPort]bool{}
	for range 3 {
		s := openSession(t, m)
		at := s.Local()
		if !at.IsValid() || at.Addr().IsUnspecified() || at.Port() == 0 || at.Port()%2 != 0 || ports[at] {
			t.Errorf("a session is at %s, which must be an even port of its own", at)
		}
		ports[at] = true
		if s.Rate() != 8000 || s.Queued() != 0 || s.Stats() != (sip.MediaStats{}) {
			t.Errorf("before Apply the rate is %d, %d samples are queued and the statistics are %+v", s.Rate(), s.Queued(), s.Stats())
		}
	}
}

// openAll opens sessions until Open returns CodeUnavailable because no port is free, but at most one session more than Pairs.
func openAll(t *testing.T, m MediaSetup) (all []sip.MediaSession) {
	t.Helper()
	for len(all) <= m.Pairs {
		s, err := m.Media.Open(context.Background())
		if errors.Is(err, callwright.ErrUnavailable) {
			break
		}
		if err != nil {
			t.Fatalf("opening session %d: %v", len(all)+1, err)
		}
		all = append(all, s)
	}
	return all
}

func closeAll(t *testing.T, all []sip.MediaSession) {
	t.Helper()
	for _, s := range all {
		if err := s.Close(); err != nil {
			t.Errorf("closing a session: %v", err)
		}
	}
}

func takesNothing(t *testing.T, m MediaSetup) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for range 2*m.Pairs + 1 {
		if _, err := m.Media.Open(ended); !errors.Is(err, context.Canceled) {
			t.Fatalf("opened after the end of the context: %v", err)
		}
	}
	all := openAll(t, m)
	if m.Pairs > 0 && len(all) != m.Pairs {
		t.Errorf("%d sessions were opened on %d pairs of ports", len(all), m.Pairs)
	}
	closeAll(t, all)
}

func freesPorts(t *testing.T, m MediaSetup) {
	for range 3 {
		all := openAll(t, m)
		if len(all) < m.Pairs {
			t.Errorf("%d sessions were opened on %d pairs of ports", len(all), m.Pairs)
		}
		closeAll(t, all)
	}
}
