package sip

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/callwright/callwright/sip/sdp"
)

// Media moves the audio of calls: it is the port between SIP and RTP. siptest.RunMedia tests it.
type Media interface {
	// Open binds an even UDP port for RTP and the next one for RTCP (RFC 3550, section 11). It returns CodeUnavailable when no pair
	// is free, and the error of ctx when ctx has ended; no port stays bound after an error. Before Apply, the Rate of a session is
	// 8000, nothing is queued, and its Stats are zero.
	Open(ctx context.Context) (MediaSession, error)
}

// MediaSession is one call's audio. SRTP is mandatory both ways: nothing is sent in the clear. Packets that are not authentic,
// including replayed ones, change only Stats, and get no answer. RTP packets consist of a header of 12 bytes without extensions,
// the payload, and a tag of 10 bytes (AES_CM_128_HMAC_SHA1_80, without an MKI). RTCP reports go to the peer every few seconds (RFC
// 3550, section 6).
//
// The address in the peer's description may belong to a third party. It gets at most 50 RTP packets immediately, and then one a
// second, until an authentic packet has come from it; audio queued beyond those packets waits and is played then. A new description
// does not renew this allowance. The address of Negotiated.Proven needs no such proof: a peer that sends nothing before it receives
// audio receives all of it. An address that Negotiated.PublicOnly forbids gets nothing: media then waits for the peer's authentic
// packets and goes to their source.
//
// Read, Write, SendDTMF and the other methods may run concurrently. siptest.RunMediaSession tests it.
type MediaSession interface {
	// Local returns the address and the RTP port for our SDP. The address is specified: neither 0.0.0.0 nor ::.
	Local() netip.AddrPort
	// Apply starts the media as negotiated, or changes it after a new offer and answer: codec, addresses, keys, direction.
	// Unchanged keys keep their SRTP contexts: the SSRC stays, and sequence numbers and rollover counters continue without a gap,
	// also after a hold. After a change of codec, packets of the former codec are decoded until the next change, because the peer
	// sends it until it has our answer. Packets to the peer hold Negotiated.Ptime of audio each; the last one before a digit or a
	// gap may hold less. Each packet is decoded by its payload type: the peer may change between Negotiated.Codec and Others at any
	// time. A change of both sides' keys means a new peer: packets of the former one are ignored, and queued audio is played to the
	// new one. Apply changes nothing when it fails: without a key for each side or with equal keys (CodeBadRequest), without an
	// engine for the codec (CodeUnavailable), and after Close (CodeInvalidState).
	Apply(n sdp.Negotiated) error

	// Rate returns the samples a second of the codec that was negotiated first; 8000 before Apply. The rate stays when the codec
	// changes: audio of another rate is resampled.
	Rate() int
	// Read waits for the next 20 ms of both sides. The slices are valid until the next Read. It returns io.EOF after Close, at
	// every call. It returns ErrMediaTimeout when the peer has been silent on the wire for too long, at every call until the peer
	// sends again; then frames continue. When ctx ends it returns the error of ctx, or a frame that is ready; a later Read
	// continues. Only one goroutine may read. A late reader misses frames, which Elapsed shows, but no digit.
	Read(ctx context.Context) (Frame, error)
	// Write queues all samples, and waits while more than 200 ms are queued; Flush ends the wait, too. When ctx ends the wait,
	// Write returns the error of ctx, and the audio stays queued. After Close it returns CodeInvalidState. Only one goroutine may
	// write. If all writes are multiples of 20 ms, each 20 ms of them is one frame to the peer, unchanged but for the codec.
	Write(ctx context.Context, samples []int16) error
	// Queued returns the number of samples not yet played. While the peer holds the call nothing is played and no RTP is sent, but
	// received audio is still read.
	Queued() int
	// Flush drops the queued samples and returns their number.
	Flush() int
	// SendDTMF sends digits as telephone-events (RFC 4733) after the queued audio, and waits until they are sent: 0-9, A-D, *, #,
	// and w for a pause of half a second. The peer's session reads each digit once. It returns CodeBadRequest for other characters;
	// no digits are no error. It returns CodeUnavailable before Apply and without telephone-event in the SDP, and CodeInvalidState
	// after Close, which also ends the wait. When ctx ends the wait, it returns the error of ctx.
	SendDTMF(ctx context.Context, digits string) error

	// Stats returns the counters so far, also after Close.
	Stats() MediaStats
	// Close says goodbye (RTCP BYE), stops the pacer and frees the ports: all goroutines have ended when it returns. It may be
	// called several times, by several goroutines, and returns nil each time.
	Close() error
}

// ErrMediaTimeout reports that no authentic packet has come from the peer for too long: 30 s before the first packet, 15 s after
// it. Time on hold, at most 30 minutes, is not counted. Only a packet, or another peer, restarts these times; Apply does not.
var ErrMediaTimeout = errors.New("media timeout")

// Frame is 20 ms of a call, both sides of it: MediaSession.Rate/50 samples each.
type Frame struct {
	In      []int16       // from the peer: missing packets are concealed, zeros before its first authentic packet; never empty
	Out     []int16       // played to the peer in the same 20 ms, as written; nil: silence, and always on hold
	Digit   byte          // the DTMF digit whose event began in these 20 ms; 0: none
	OnHold  bool          // the peer does not receive, or does not send, because it holds the call
	Elapsed time.Duration // since the first frame, in steps of 20 ms; greater in each frame than in the one before
}

// MediaStats counts one call's packets. Times and rates follow RFC 3550, section 6.4.
type MediaStats struct {
	Codec           string // Negotiated.Codec, whichever codec the peer sends
	Sent, Received  uint64 // RTP packets
	Lost, Late, Bad uint64 // missing by sequence number; too late to be played; not authentic or malformed
	Jitter          time.Duration
	RoundTrip       time.Duration // from RTCP; 0 when the peer sends none
	PeerLost        float64       // share of packets lost as the peer reports it, 0 to 1
	// Fault describes a fault of the peer's audio: FaultUndecodable, a colon and the details. It is empty without a fault, and
	// stays after the fault is over.
	Fault string
}

// FaultUndecodable names the fault of audio that came for 3 s and could not be decoded: its payload type was not negotiated,
// or its payloads are malformed.
const FaultUndecodable = "undecodable_audio"

// Codec encodes 20 ms of audio to a payload, and decodes payloads. Each direction of a call has its own codec: codecs share no
// state, and new ones of one name behave alike: the same audio gives the same payloads. Together, Encode and Decode delay audio by
// at most 200 ms, and by less than 20 ms unless the codec's suite states its delay. siptest.RunCodec tests it.
type Codec interface {
	// Name returns the encoding name of the SDP (RFC 4855), such as "PCMU".
	Name() string
	// Rate returns the samples a second of the audio, at least 8000 and whole in 20 ms.
	Rate() int
	// Clock returns the ticks a second of the RTP timestamps, at least 8000 and whole in 20 ms, which for G722 and Opus is not the Rate.
	Clock() int
	// Encode appends the payload of 20 ms of audio to dst, of 1 to 1200 bytes, also of silence. Audio of another length, which a
	// peer may request, is encoded whole or is an error; after an error the peer gets 20 ms. Encode does not allocate when dst has
	// room, and leaves dst unchanged when it fails.
	Encode(dst []byte, pcm []int16) ([]byte, error)
	// Decode appends all samples of a payload to dst. Payloads may be missing, and may hold any bytes. After an error, which leaves
	// dst unchanged, and after a loss, the next payloads decode; after half a second their signal-to-noise ratio is at most 6 dB
	// below the codec's. Decode does not allocate when dst has room.
	Decode(dst []int16, payload []byte) ([]int16, error)
}

// Codecs makes a codec by its SDP name; CodeUnavailable for one without an engine.
type Codecs func(name string) (Codec, error)
