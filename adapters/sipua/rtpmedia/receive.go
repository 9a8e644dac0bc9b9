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

// receiver holds the receiving direction of a session. The caller of its methods must hold the session's mutex.
type receiver struct {
	opener     secure.Opener
	packet     rtp.Packet
	formats    []format // audio formats of the current negotiation
	straggling []format // formats of the former negotiation, which the peer sends until it receives our answer
	events     []uint8  // payload types of telephone-events
	listening  bool     // false if the negotiated direction does not let us receive
	player     *jitter.Player
	decoders   []string // names of the player's decoders
	payload    uint8    // payload type of the last audio packet
	dtmf       dtmf.Receiver
	digits     []byte // digits that began since the last frame
	stats      report.Reception
	bad, late  uint64
	deaf       undecodableDetector
	heard      bool          // an authentic RTP packet has arrived
	alive      time.Duration // when the last authentic packet arrived or the wait for it began, plus onHold
	onHold     time.Duration // time on hold since the last authentic packet

	signalled remote                         // addresses in the peer's SDP
	actual    remote                         // addresses that we send to
	proof     struct{ rtp, rtcp netip.Addr } // sources of the last authentic RTP and RTCP packets that count as proof: see public
	known     netip.Addr                     // address that the signaling has proven
	public    bool                           // private addresses neither count as proof nor receive packets

	former   []uint32      // SSRCs that were replaced, the latest first, at most maxFormer
	sourceAt time.Duration // when the last packet of the current SSRC arrived
}

// format maps a payload type to the index of its decoder in the player.
type format struct {
	payload uint8
	decoder int
}

// remote holds the RTP and RTCP addresses of the peer.
type remote struct{ rtp, rtcp netip.AddrPort }

// lateAfterSwitch is the time after the last packet of the current SSRC during which packets of a former SSRC are ignored as delayed. Later
// packets make the former SSRC current again.
const lateAfterSwitch = 200 * time.Millisecond

// maxFormer is the maximum number of former SSRCs that are stored.
const maxFormer = 4

// expect applies the negotiated parameters of the receiving direction, except the keys and the codecs.
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
		// Private addresses receive no packets if only public addresses are allowed. The packets of a peer behind a NAT will show its
		// public address.
		if !r.reachable(said.rtp.Addr()) {
			r.actual = remote{}
		} else if !r.reachable(said.rtcp.Addr()) {
			r.actual.rtcp = netip.AddrPort{}
		}
	}
}

// decode creates the session's player if there is none, and adds the decoders of new codecs. It retains the former decoders, because audio
// of the former codecs may still wait in the player.
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

// begin replaces the former peer by a new one, which uses the keys of opener. The caller must first call expect with the new peer's
// parameters.
func (r *receiver) begin(now time.Duration, opener *secure.Opener) {
	r.opener, r.straggling, r.heard = *opener, nil, false
	r.player.Reset()
	r.touch(now)
}

// touch restarts the timeout for a silent peer.
func (r *receiver) touch(now time.Duration) { r.alive, r.onHold = now, 0 }

// decoder returns the index of the decoder for a payload type, or -1 if the type is not a negotiated audio format.
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

// receiveRTP handles a datagram that arrived at the RTP port, and overwrites it. It reports whether the address to which RTP is sent has
// changed to the datagram's source.
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
			return false // a gateway that sends events with an SSRC of their own; the audio's SSRC stays current
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
	// RTCP is sent to the port above the RTP port, until an RTCP packet arrives from another port.
	if from.Addr() != r.actual.rtp.Addr() && from.Port() < 1<<16-1 {
		r.actual.rtcp = netip.AddrPortFrom(from.Addr(), from.Port()+1)
	}
	r.actual.rtp = from
	return true
}

// reachable reports whether media may be sent to an address. If only public addresses are allowed, it excludes private addresses, because
// anyone with the keys can forge a packet's source address.
func (r *receiver) reachable(a netip.Addr) bool { return !r.public || !uri.IsPrivate(a) }

// proven reports whether RTP, RTCP or the signaling has proven that the peer uses the IP address of the given destination.
func (r *receiver) proven(to netip.AddrPort) bool {
	return to.IsValid() && (to.Addr() == r.proof.rtp || to.Addr() == r.proof.rtcp || to.Addr() == r.known)
}

// refuse counts a packet that could not be decrypted. It does not count a replayed packet, because networks duplicate packets.
func (r *receiver) refuse(reason error) {
	if !errors.Is(reason, secure.ErrReplayed) {
		r.bad++
	}
}

// follow reports whether a packet of the given SSRC may be played. It returns false for delayed packets of former SSRCs. If the SSRC is not
// the current one, it also prepares the player for another source.
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

// event passes the current packet to the DTMF receiver, and queues the digit that begins with it, if any.
func (r *receiver) event(h *rtp.Header) {
	if digit, begins := r.dtmf.Packet(eventHeader(h), r.packet.Payload); begins {
		r.digits = append(r.digits, digit)
	}
}

func eventHeader(h *rtp.Header) dtmf.Header {
	return dtmf.Header{SSRC: h.SSRC, Timestamp: h.Timestamp, Sequence: h.SequenceNumber, Marker: h.Marker}
}

// play passes the current packet to the player, unless the negotiated direction does not let us receive. codec is -1 for a packet without
// audio. Such a packet is pushed without its payload, so that its sequence number does not count as lost audio.
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

// frame appends to dst the 20 ms of received audio that are due at the given time.
func (r *receiver) frame(dst []int16, now time.Duration) []int16 {
	dst = r.player.Frame(dst, now)
	decoded, refused := r.player.Counts()
	r.deaf.played(now, r.payload, decoded, refused)
	return dst
}

// receiveRTCP handles a datagram that arrived at the RTCP port. The parameter now is the time of its arrival, ntp is the same time of the
// wall clock in NTP format, and ours is our SSRC. receiveRTCP returns the peer's report, and false if the datagram is invalid.
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
