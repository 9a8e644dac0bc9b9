package sdp

import (
	"log/slog"
	"net/netip"
	"time"
)

// Negotiated is the negotiated session from our point of view.
type Negotiated struct {
	Local      netip.AddrPort // our RTP address; RTCP is one port above
	RemoteRTP  netip.AddrPort // the peer's RTP address; 0.0.0.0 or :: if it holds us as in RFC 2543
	RemoteRTCP netip.AddrPort // from a=rtcp (RFC 3605), or one port above RemoteRTP; zero if that port does not exist
	PublicOnly bool           // media must be sent only to public addresses, regardless of the description

	// Proven is the address that the signaling connection proves to be the peer's; invalid if there is none. Media may be sent to it
	// without further proof. Answer and Accept do not set it.
	Proven netip.Addr

	Codec   Codec
	Payload PayloadTypes // payload types of Codec
	// Others lists the further codecs that the answer names. The peer may send them instead of Codec, and change at any time (RFC 3264,
	// sections 6.1 and 7). Their rates may differ from Codec's.
	Others []Other
	Events PayloadTypes // payload types of telephone-event; zero if not negotiated
	// EventClock is the clock rate of Events: Codec's rate if both sides support it, or else the rate of G.711.
	EventClock uint32
	// OtherEvents lists the payload types of telephone-events with other clock rates that the peer may send.
	OtherEvents []uint8
	// Ptime is the duration of audio in a packet to the peer: a multiple of 10 ms from 10 to 60 ms. The default is DefaultPtime.
	Ptime time.Duration

	Direction  Direction // direction of audio from our point of view
	LocalHold  bool      // we hold the peer
	RemoteHold bool      // the peer holds us

	LocalCrypto  Crypto // protects the packets that we send
	RemoteCrypto Crypto // protects the packets that we receive
}

// PayloadTypes are the RTP payload types of one format. Each side assigns the payload types of the packets that it receives.
type PayloadTypes struct {
	Send    uint8 // for packets to the peer
	Receive uint8 // for packets from the peer
}

// Other is a codec that the peer may send instead of Negotiated.Codec.
type Other struct {
	Codec   Codec
	Receive uint8 // payload type of packets from the peer
}

// HasEvents reports whether we can send DTMF as telephone-events.
func (n Negotiated) HasEvents() bool { return n.Events != PayloadTypes{} }

// LogValue returns the negotiated session without its keys, for logs.
func (n Negotiated) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("codec", string(n.Codec)),
		slog.String("direction", n.Direction.String()),
		slog.String("local", n.Local.String()),
		slog.String("remote", n.RemoteRTP.String()),
		slog.Bool("events", n.HasEvents()),
		slog.Duration("ptime", n.Ptime),
		slog.String("suite", Suite),
	)
}

// agree returns the session that results from both sides' streams, the chosen codec, and the peer's key.
func agree(local, remote *stream, codec Codec, theirs Crypto) Negotiated {
	ours, _ := local.find(codec)
	their, _ := remote.find(codec)
	n := Negotiated{
		Local:        netip.AddrPortFrom(local.address, local.port),
		RemoteRTP:    netip.AddrPortFrom(remote.address, remote.port),
		RemoteRTCP:   remote.controlAddress(),
		Codec:        codec,
		Payload:      PayloadTypes{Send: their.pt, Receive: ours.pt},
		Ptime:        remote.packetTime(codec),
		Direction:    local.direction.And(remote.effectiveDirection().Reverse()),
		RemoteHold:   !remote.effectiveDirection().CanReceive(),
		LocalCrypto:  local.crypto[0],
		RemoteCrypto: theirs,
	}
	for _, clock := range eventClocks(codec) {
		send, receive := remote.findEvent(clock), local.findEvent(clock)
		if send.name != "" && receive.name != "" {
			n.Events, n.EventClock = PayloadTypes{Send: send.pt, Receive: receive.pt}, clock
			break
		}
	}
	n.addOthers(local, remote)
	return n
}

// addOthers adds the further codecs and telephone-events that both sides name.
func (n *Negotiated) addOthers(local, remote *stream) {
	for _, f := range local.formats {
		codec := f.codec()
		switch _, named := remote.find(codec); {
		case codec != "" && codec != n.Codec && named:
			n.Others = append(n.Others, Other{Codec: codec, Receive: f.pt})
		case f.isEvent(f.clock) && f.pt != n.Events.Receive && remote.findEvent(f.clock).name != "":
			n.OtherEvents = append(n.OtherEvents, f.pt)
		}
	}
}

// interchangeable reports whether packets of two codecs can alternate in one stream, because their clock and sample rates are equal.
func interchangeable(a, b Codec) bool {
	return a != "" && a.ClockRate() == b.ClockRate() && a.SampleRate() == b.SampleRate()
}

// controlAddress returns the RTCP address of the stream's owner, or the zero AddrPort if the port above RTP's does not exist.
func (s *stream) controlAddress() netip.AddrPort {
	address, port := s.rtcp.Addr(), s.rtcp.Port()
	if !address.IsValid() {
		address = s.address
	}
	if port == 0 {
		port = s.port + 1
	}
	if port == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(address, port)
}

// reachableFrom reports whether the stream's address is usable from our address family. The address of a hold (0.0.0.0 or ::) fits both
// families, because nothing is sent to it.
func (s *stream) reachableFrom(ip4 bool) bool {
	return s.address.IsValid() && (s.held() || s.address.Is4() == ip4)
}
