package sdp

import (
	"log/slog"
	"net/netip"
	"time"
)

// Negotiated is what both sides have agreed on, seen from ours.
type Negotiated struct {
	Local      netip.AddrPort // where we receive RTP; RTCP one port above
	RemoteRTP  netip.AddrPort // where the peer says it receives; 0.0.0.0 or :: when it holds us the old way
	RemoteRTCP netip.AddrPort // by a=rtcp (RFC 3605), else one port above RemoteRTP; zero when there is none

	Codec   Codec
	Payload PayloadTypes // of Codec
	Others  []Other      // what the peer may send besides; only with Capabilities.Transcode
	Events  PayloadTypes // of telephone-event; zero when the peer has none
	// EventClock is the clock in which the durations of events count: Codec's where both sides have that.
	EventClock uint32
	Ptime      time.Duration // audio in a packet that the peer wants to receive, DefaultPtime unless it says otherwise

	Direction  Direction // what we may send and may expect
	LocalHold  bool      // we hold the peer
	RemoteHold bool      // the peer holds us: it does not listen

	LocalCrypto  Crypto // protects what we send
	RemoteCrypto Crypto // protects what we receive
}

// PayloadTypes are the RTP payload types of one format: each side numbers for itself what it receives.
type PayloadTypes struct {
	Send    uint8 // to put into packets to the peer
	Receive uint8 // to expect in packets from it
}

// Other is a codec that the peer may send in place of the one that we send. Its rates are those of Negotiated.Codec.
type Other struct {
	Codec   Codec
	Receive uint8 // the payload type to expect
}

// HasEvents reports whether DTMF can go as telephone-events.
func (n Negotiated) HasEvents() bool { return n.Events != PayloadTypes{} }

// LogValue shows what was agreed, without the keys.
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

// agree puts together what follows from both sides' streams once the codec and the keys are chosen.
func agree(local, remote *stream, codec Codec, theirs Crypto) Negotiated {
	ours, _ := local.find(codec)
	their, _ := remote.find(codec)
	n := Negotiated{
		Local:        netip.AddrPortFrom(local.address, local.port),
		RemoteRTP:    netip.AddrPortFrom(remote.address, remote.port),
		RemoteRTCP:   remote.controlAddress(),
		Codec:        codec,
		Payload:      PayloadTypes{Send: their.pt, Receive: ours.pt},
		Ptime:        remote.packetTime(),
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
	return n
}

// others are our codecs beside the chosen one that the peer has named too and that can take its place at any time.
func others(local, remote *stream, chosen Codec) (found []Other) {
	for _, f := range local.formats {
		codec := f.codec()
		if _, named := remote.find(codec); named && codec != chosen && interchangeable(codec, chosen) {
			found = append(found, Other{Codec: codec, Receive: f.pt})
		}
	}
	return found
}

// interchangeable says whether packets of two codecs can follow each other in one stream.
func interchangeable(a, b Codec) bool {
	return a != "" && a.ClockRate() == b.ClockRate() && a.SampleRate() == b.SampleRate()
}

// controlAddress is where the owner of the stream receives RTCP.
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

// reachableFrom reports whether the stream's address can be sent to from our family. The address that holds a stream
// (0.0.0.0) is never sent to and fits both.
func (s *stream) reachableFrom(ip4 bool) bool {
	return s.address.IsValid() && (s.held() || s.address.Is4() == ip4)
}
