package sip

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/callwright/callwright/sip/sdp"
)

// Media opens the audio of calls: it is the port between SIP and RTP. siptest.RunMedia tests it.
type Media interface {
	// Open binds an even UDP port for RTP and the next port for RTCP (RFC 3550, section 11). It returns CodeUnavailable if no pair is free,
	// and the error of ctx if ctx has ended; after an error no port stays bound. Before Apply, the Rate of a session is 8000, its queue is
	// empty, and its Stats are zero.
	Open(ctx context.Context) (MediaSession, error)
}

// MediaSession is the audio of one call. SRTP is mandatory in both directions: nothing is sent in the clear. Packets that are not
// authentic, including replayed ones, change only Stats, and are not answered. RTP packets consist of a header of 12 bytes without
// extensions, the payload, and a tag of 10 bytes (AES_CM_128_HMAC_SHA1_80, without an MKI). RTCP reports are sent to the peer every few
// seconds (RFC 3550, section 6).
//
// The address in the peer's description may belong to a third party. Until an authentic packet has arrived from it, the session sends it at
// most 50 RTP packets immediately and then one a second; further audio stays queued and is played later. A new description does not renew
// this allowance. The address Negotiated.Proven needs no such proof: a peer that sends nothing before it receives audio receives all of the
// audio. The session sends nothing to an address that Negotiated.PublicOnly forbids; it waits for the peer's authentic packets and then
// sends to their source.
//
// Read, Write, SendDTMF and the other methods may be called concurrently. siptest.RunMediaSession tests it.
type MediaSession interface {
	// Local returns the address and the RTP port for our SDP. The address is never unspecified (0.0.0.0 or ::).
	Local() netip.AddrPort
	// Apply starts the media as negotiated, or changes it after a new offer and answer: codec, addresses, keys, direction.
	//
	// Unchanged keys keep their SRTP contexts: the SSRC stays, and sequence numbers and rollover counters continue without a gap, also
	// after a hold. If the keys of both sides change, the peer is a new one: packets of the former peer are ignored, and queued audio is
	// played to the new peer.
	//
	// Packets to the peer contain Negotiated.Ptime of audio each; the last packet before a digit or a gap may contain less. Each received
	// packet is decoded by its payload type: the peer may change between Negotiated.Codec and Others at any time. After a change of codec,
	// packets of the former codec are decoded until the next change, because the peer sends them until it has received our answer.
	//
	// Apply changes nothing if it fails. It returns CodeBadRequest without a key for each side or with equal keys, CodeUnavailable without
	// an engine for the codec, and CodeInvalidState after Close.
	Apply(n sdp.Negotiated) error

	// Rate returns the samples per second of the codec that was negotiated first, or 8000 before Apply. The rate stays when the codec
	// changes: audio of another rate is resampled.
	Rate() int
	// Read waits for the next 20 ms of audio in both directions. The slices are valid until the next Read. After Close, every Read returns
	// io.EOF. If no packet has arrived from the peer for too long, every Read returns ErrMediaTimeout until the peer sends again. If ctx
	// ends, Read returns the error of ctx, or a frame that is ready; a later Read continues. Only one goroutine may read. A late reader
	// misses frames, which Elapsed shows, but no digit.
	Read(ctx context.Context) (Frame, error)
	// Write queues all samples, and waits while more than 200 ms are queued; Flush also ends the wait. If ctx ends the wait, Write returns
	// the error of ctx, and the audio stays queued. After Close it returns CodeInvalidState. Only one goroutine may write. If all writes
	// are multiples of 20 ms, each 20 ms of them becomes one frame to the peer, unchanged except by the codec.
	Write(ctx context.Context, samples []int16) error
	// Queued returns the number of samples that have not been played yet. While the peer holds the call, nothing is played and no RTP is
	// sent, but received audio can still be read.
	Queued() int
	// Flush discards the queued samples, and returns how many it discarded.
	Flush() int
	// SendDTMF sends digits as telephone-events (RFC 4733) after the queued audio, and waits until they are sent. The digits are 0-9, A-D,
	// *, #, and w for a pause of half a second. The peer's session reads each digit once. SendDTMF returns CodeBadRequest for other
	// characters, and nil for an empty text. It returns CodeUnavailable before Apply and without telephone-event in the SDP, and
	// CodeInvalidState after Close, which also ends the wait. If ctx ends the wait, SendDTMF returns the error of ctx.
	SendDTMF(ctx context.Context, digits string) error

	// Stats returns the current counters. It may be called after Close.
	Stats() MediaStats
	// Close sends an RTCP BYE, stops the pacer and frees the ports. When it returns, all goroutines of the session have ended. It may be
	// called repeatedly and concurrently, and always returns nil.
	Close() error
}

// ErrMediaTimeout reports that no authentic packet has arrived from the peer for too long: 30 s before its first packet, 15 s afterwards.
// Time on hold, up to 30 minutes, is not counted. Only a packet, or another peer, restarts these times; Apply does not.
var ErrMediaTimeout = errors.New("media timeout")

// Frame is 20 ms of a call, in both directions. In contains MediaSession.Rate/50 samples, and so does Out unless it is nil.
type Frame struct {
	In      []int16       // received from the peer, never empty; missing packets are concealed; zeros before its first authentic packet
	Out     []int16       // played to the peer in the same 20 ms, as written; nil for silence, and always on hold
	Digit   byte          // DTMF digit whose event began in these 20 ms; 0 if none
	OnHold  bool          // the peer holds the call: it does not receive, but may send, for example music
	Elapsed time.Duration // time since the first frame, a multiple of 20 ms; strictly increasing
}

// BackgroundPlayer is an optional interface of a MediaSession: it mixes a sound into all audio to the peer.
type BackgroundPlayer interface {
	// PlayBackground repeats the samples of loop without end, and adds them to the audio of all following packets, silence included. It
	// replaces an earlier loop; a nil loop ends the sound. Frame.Out, Queued and Flush do not include the sound. Digits, packets to an
	// address that is not proven yet and holds by the peer contain none. The samples are at Rate, and must not change afterwards.
	PlayBackground(loop []int16)
}

// MediaStats contains the counters of one call's packets. Times and rates follow RFC 3550, section 6.4.
type MediaStats struct {
	Codec           string // Negotiated.Codec, regardless of the codec that the peer sends
	Sent, Received  uint64 // RTP packets
	Lost, Late, Bad uint64 // missing by sequence number; too late to play; malformed or not authentic
	Jitter          time.Duration
	RoundTrip       time.Duration // from RTCP; 0 if the peer sends none
	PeerLost        float64       // share of lost packets that the peer reports, 0 to 1
	// Fault describes a fault of the peer's audio: FaultUndecodable, a colon and the details. It is empty if no fault has occurred, and
	// stays set after the fault is over.
	Fault string
}

// FaultUndecodable names the fault of audio that arrived for 3 s and could not be decoded, because its payload type was not negotiated or
// its payloads are malformed.
const FaultUndecodable = "undecodable_audio"

// Codec encodes 20 ms of audio to a payload, and decodes payloads. Each direction of a call uses a separate Codec: codecs share no state,
// and new codecs with the same name encode the same audio to the same payloads. Together, Encode and Decode delay audio by at most 200 ms,
// and by less than 20 ms unless the codec's suite states its delay. siptest.RunCodec tests it.
type Codec interface {
	// Name returns the encoding name in SDP (RFC 4855), such as "PCMU".
	Name() string
	// Rate returns the samples per second of the audio: at least 8000, and an integer number of samples in 20 ms.
	Rate() int
	// Clock returns the ticks per second of the RTP timestamps: at least 8000, and an integer number of ticks in 20 ms. For G722 and Opus
	// it differs from Rate.
	Clock() int
	// Encode appends the payload of 20 ms of audio, 1 to 1200 bytes even for silence, to dst. A peer may request other durations: Encode
	// either encodes such audio completely or returns an error, after which the peer is sent 20 ms. Encode does not allocate if dst has
	// room, and leaves dst unchanged if it fails.
	Encode(dst []byte, pcm []int16) ([]byte, error)
	// Decode appends all samples of a payload to dst. Payloads may be missing, and may contain arbitrary bytes. Decode leaves dst unchanged
	// if it fails. After an error or a loss, later payloads must still decode; after half a second their signal-to-noise ratio is at most 6
	// dB below the codec's. Decode does not allocate if dst has room.
	Decode(dst []int16, payload []byte) ([]int16, error)
}

// Codecs returns a new codec by its SDP name. It returns CodeUnavailable if the codec has no engine.
type Codecs func(name string) (Codec, error)
