package rtpmedia

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/pion/rtp"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/dtmf"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/jitter"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/report"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/secure"
	"github.com/callwright/callwright/sip/sdp"
	"github.com/callwright/callwright/sip/uri"
)

// receiver is the peer's half of a session. The session's mutex guards it.
type receiver struct {
	opener     secure.Opener
	packet     rtp.Packet
	formats    []format // to expect
	straggling []format // that the peer sends until it has our answer
	events     []uint8  // payload types
	listening  bool     // false: we hold the peer, or neither side talks
	player     *jitter.Player
	decoders   []string // names of the player's decoders
	payload    uint8    // type of the last audio packet
	dtmf       dtmf.Receiver
	digits     []byte // begun since the last frame
	stats      report.Reception
	bad, late  uint64
	deaf       undecodableDetector
	heard      bool          // something authentic has come
	alive      time.Duration // when it last did, or when we began to wait for it; later by the time on hold since then
	onHold     time.Duration // since then

	signalled remote                         // as the SDP says
	actual    remote                         // where we send to
	proof     struct{ rtp, rtcp netip.Addr } // where authentic packets came from last
	known     netip.Addr                     // proven by the signaling
	public    bool                           // addresses that are not public prove nothing, and nothing is sent there

	former   []uint32      // the sources before the current one, the latest first, at most maxFormer
	sourceAt time.Duration // when the last packet of the current source came
}

// format is a payload type and the player's decoder for it.
type format struct {
	payload uint8
	decoder int
}

// remote is the addresses of the peer.
type remote struct{ rtp, rtcp netip.AddrPort }

// lateAfterSwitch is the time in which packets of a replaced source count as late packets on the way.
const lateAfterSwitch = 200 * time.Millisecond

// maxFormer bounds the replaced sources that are remembered.
const maxFormer = 4

// expect applies the negotiated parameters, except the keys and the codec.
func (r *receiver) expect(n *sdp.Negotiated) {
	formats := []format{{n.Payload.Receive, slices.Index(r.decoders, string(n.Codec))}}
	for _, other := range n.Others {
		formats = append(formats, format{other.Receive, slices.Index(r.decoders, string(other.Codec))})
	}
	if !slices.Equal(formats, r.formats) {
		r.formats, r.straggling = formats, r.formats
	}
	r.public, r.known = n.PublicOnly, n.Proven.Unmap()
	if r.events = slices.Clone(n.OtherEvents); n.HasEvents() {
		r.events = append(r.events, n.Events.Receive)
	}
	if listening := n.Direction.CanReceive(); listening != r.listening {
		r.listening = listening
		r.player.Reset()
	}
	if said := (remote{n.RemoteRTP, n.RemoteRTCP}); said != r.signalled {
		r.signalled, r.actual = said, said
		// Nothing is sent to a forbidden address. Packets of a peer behind NAT show where it is.
		if !r.reachable(said.rtp.Addr()) {
			r.actual = remote{}
		} else if !r.reachable(said.rtcp.Addr()) {
			r.actual.rtcp = netip.AddrPort{}
		}
	}
}

// decode adds the decoders of codecs. Audio of the former ones that waits is still played.
func (r *receiver) decode(e *engines, delay Bounds) {
	if r.player == nil {
		r.player = jitter.NewPlayer(jitter.Format{Rate: e.rate, Clock: e.clocks[0]}, delay.Least, delay.Most)
		r.stats.Clock(e.clocks[0])
	}
	for i, name := range e.names {
		if !slices.Contains(r.decoders, name) {
			r.decoders = append(r.decoders, name)
			r.player.Add(e.decoders[i], e.clocks[i])
		}
	}
}

// begin resets the state of the former peer, after the negotiated parameters of another one were applied.
func (r *receiver) begin(now time.Duration, opener *secure.Opener) {
	r.opener, r.straggling, r.heard = *opener, nil, false
	r.player.Reset()
	r.touch(now)
}

// touch begins to wait for the peer's next sign of life.
func (r *receiver) touch(now time.Duration) { r.alive, r.onHold = now, 0 }

// decoder returns the index of the decoder for a payload type; -1 if it is not audio.
func (r *receiver) decoder(payload uint8) int {
	for _, formats := range [][]format{r.formats, r.straggling} {
		for _, f := range formats {
			if f.payload == payload {
				return f.decoder
			}
		}
	}
	return -1
}

// receiveRTP takes a datagram that came to the RTP port and reports whether the peer has moved. The datagram is
// overwritten.
func (r *receiver) receiveRTP(now time.Duration, datagram []byte, from netip.AddrPort) (moved bool) {
	plain, err := r.opener.RTP(now, datagram)
	if err != nil {
		r.refuse(err)
		return false
	}
	if err := r.packet.Unmarshal(plain); err != nil {
		r.bad++
		return false
	}
	r.heard = true
	r.touch(now)
	reachable := r.reachable(from.Addr())
	if reachable {
		r.proof.rtp = from.Addr()
	}
	h := &r.packet.Header
	events := slices.Contains(r.events, h.PayloadType)
	if events {
		r.event(h)
		if current, known := r.stats.Source(); known && h.SSRC != current {
			return false // a gateway that makes events from a source of their own: the audio's is not over
		}
	}
	if !r.follow(now, h.SSRC) {
		return false
	}
	codec := r.decoder(h.PayloadType)
	switch {
	case codec >= 0:
		r.stats.Clock(r.player.Use(codec))
	case !events && r.listening:
		r.deaf.miss(now, h.PayloadType)
	}
	newest := r.stats.Packet(now, h.SSRC, h.SequenceNumber, h.Timestamp, codec >= 0)
	r.play(now, h, codec)
	if !newest || !reachable || from == r.actual.rtp {
		return false
	}
	// RTCP is expected beside it until a report shows where it comes from.
	if from.Addr() != r.actual.rtp.Addr() && from.Port() < 1<<16-1 {
		r.actual.rtcp = netip.AddrPortFrom(from.Addr(), from.Port()+1)
	}
	r.actual.rtp = from
	return true
}

// reachable reports whether media may be sent to an address. Anyone with the keys may forge a packet's source.
func (r *receiver) reachable(a netip.Addr) bool { return !r.public || !uri.IsPrivate(a) }

// proven reports whether something authentic has come from where we send to, over RTP, RTCP or the signaling connection.
func (r *receiver) proven(to netip.AddrPort) bool {
	return to.IsValid() && (to.Addr() == r.proof.rtp || to.Addr() == r.proof.rtcp || to.Addr() == r.known)
}

// refuse counts a packet that did not open. A replayed one is neither forged nor malformed: networks double packets.
func (r *receiver) refuse(reason error) {
	if !errors.Is(reason, secure.ErrReplayed) {
		r.bad++
	}
}

// follow reports whether a packet's source is the one to play, and changes to a new one.
func (r *receiver) follow(now time.Duration, ssrc uint32) bool {
	current, known := r.stats.Source()
	switch {
	case known && ssrc == current:
	case now-r.sourceAt < lateAfterSwitch && slices.Contains(r.former, ssrc):
		return false
	case known:
		r.former = slices.DeleteFunc(r.former, func(s uint32) bool { return s == ssrc })
		r.former = slices.Insert(r.former, 0, current)
		r.former = r.former[:min(len(r.former), maxFormer)]
		r.player.Follow()
	}
	r.sourceAt = now
	return true
}

// event passes a packet to the digits.
func (r *receiver) event(h *rtp.Header) {
	if digit, begins := r.dtmf.Packet(eventHeader(h), r.packet.Payload); begins {
		r.digits = append(r.digits, digit)
	}
}

func eventHeader(h *rtp.Header) dtmf.Header {
	return dtmf.Header{SSRC: h.SSRC, Timestamp: h.Timestamp, Sequence: h.SequenceNumber, Marker: h.Marker}
}

// play passes a packet to the player; codec is -1 for a packet without audio. Events and formats that were not
// negotiated keep their place in its sequence, so that they are not taken for lost audio.
func (r *receiver) play(now time.Duration, h *rtp.Header, codec int) {
	payload := r.packet.Payload
	if codec < 0 {
		payload = nil
	}
	if codec >= 0 {
		r.payload = h.PayloadType
	}
	if r.listening && r.player.Push(now, h.SequenceNumber, h.Timestamp, codec, payload) == jitter.Late && codec >= 0 {
		r.late++
	}
}

// frame appends the 20 ms that are played at now.
func (r *receiver) frame(dst []int16, now time.Duration) []int16 {
	dst = r.player.Frame(dst, now)
	decoded, refused := r.player.Counts()
	r.deaf.played(now, r.payload, decoded, refused)
	return dst
}

// receiveRTCP takes a datagram that came to the RTCP port. ntp is the wall clock time, ours our SSRC.
func (r *receiver) receiveRTCP(now time.Duration, ntp uint64, ours uint32, datagram []byte, from netip.AddrPort) (report.Heard, bool) {
	plain, err := r.opener.RTCP(now, datagram)
	if err != nil {
		r.refuse(err)
		return report.Heard{}, false
	}
	r.touch(now)
	if r.reachable(from.Addr()) {
		r.actual.rtcp, r.proof.rtcp = from, from.Addr()
	}
	heard, err := r.stats.Receive(now, ntp, ours, plain)
	if err != nil {
		r.bad++
	}
	return heard, err == nil
}
