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
	// Open takes an even UDP port for RTP and the next one for RTCP (RFC 3550, section 11). It is CodeUnavailable when no
	// pair is free, and the error of ctx when that has ended. Nothing is taken when it fails. Before Apply, a session has the Rate
	// 8000, nothing queued, and zero Stats.
	Open(ctx context.Context) (MediaSession, error)
}

// MediaSession is one call's audio. SRTP is mandatory both ways: nothing is sent in the clear, and packets that are not
// authentic, replayed ones included, change nothing but Stats, and get no answer. RTP packets have the header of 12 bytes alone,
// without extensions, the payload, and a tag of 10 bytes (AES_CM_128_HMAC_SHA1_80, without an MKI). RTCP reports go to the peer
// every few seconds (RFC 3550, section 6).
//
// The address in the peer's description may be anybody's. It gets at most 50 RTP packets at once, and one more a second, until
// something authentic has come from it; what is queued, beyond those packets, waits and is played then. A new description does
// not renew this. The address of Negotiated.Proven needs no such proof: a peer that sends nothing before it hears us, hears all. An
// address that Negotiated.PublicOnly forbids gets nothing: media then waits for the peer's authentic packets and goes to where they
// come from.
//
// Read, Write, SendDTMF and the other methods may run concurrently. siptest.RunMediaSession tests it.
type MediaSession interface {
	// Local returns the address and the RTP port for our SDP. The address is specified: neither 0.0.0.0 nor ::.
	Local() netip.AddrPort
	// Apply starts the media as negotiated, or changes it after a new offer and answer: codec, addresses, keys,
	// direction. Keys that stay the same keep their SRTP contexts, so the SSRC stays, and sequence numbers and rollover counters go on
	// without a gap, also after a hold. After a change of codec the former one is heard as well, until the next change: the peer sends
	// it until it has our answer.
	// Packets to the peer have Negotiated.Ptime of audio each, the last before a digit or a gap less. Each packet is decoded by its
	// payload type: the peer may change between Negotiated.Codec and Others at any time.
	// When the keys of both sides change at once, the media goes to another peer: nothing of the former one is heard, and
	// what is queued is played to the new one. It
	// fails, with nothing changed, without a key of each side, or when both are the same (CodeBadRequest), without an
	// engine for the codec (CodeUnavailable), and after Close (CodeInvalidState).
	Apply(n sdp.Negotiated) error

	// Rate returns the samples a second of the codec that was negotiated first; 8000 before Apply. It stays when the codec
	// changes: the audio of one with another rate is resampled.
	Rate() int
	// Read waits for the next 20 ms, both sides of them. The slices are good until the next Read. It returns io.EOF after
	// Close, however often it is called, and ErrMediaTimeout when the peer has been silent on the wire for too long: every Read does
	// until the peer is heard again, and frames go on then. When ctx ends it returns the error of ctx, or a frame that is ready; a
	// later Read goes on. One goroutine reads. One that is late misses frames, which Elapsed shows, but no digit.
	Read(ctx context.Context) (Frame, error)
	// Write queues audio, all of it, and waits while more than 200 ms are queued; Flush ends the wait, too. When ctx ends the wait, Write
	// returns the error of ctx, and the audio stays queued. After Close it is CodeInvalidState. One goroutine writes. While all
	// writes are of whole 20 ms, each 20 ms of them is a frame that the peer hears, unchanged but for the codec.
	Write(ctx context.Context, samples []int16) error
	// Queued returns the number of samples not yet played. While the peer holds the call nothing is played and no RTP is sent, but the
	// peer is heard.
	Queued() int
	// Flush drops the queued samples and returns their number.
	Flush() int
	// SendDTMF sends digits as telephone-events (RFC 4733) after what is queued and waits until they are sent: 0-9,
	// A-D, *, #, and w for a pause of half a second. The peer's session reads each digit once. Other characters are CodeBadRequest; no
	// digits are no error. Without telephone-event in the SDP, and before Apply, it is CodeUnavailable; after Close, which also
	// ends the wait, CodeInvalidState. When ctx ends the wait, it returns the error of ctx.
	SendDTMF(ctx context.Context, digits string) error

	// Stats returns what has been sent and received up to now, also after Close.
	Stats() MediaStats
	// Close says goodbye (RTCP BYE), stops the pacer and frees the ports: goroutines and ports are gone when it returns.
	// It may be called several times, by several goroutines, and returns nil each time.
	Close() error
}

// ErrMediaTimeout says that nothing authentic has come from the peer for the time that a call may be silent: 30 s before the
// first packet, 15 s after it, neither counting the time on hold, of which there may be 30 minutes. Only a packet, or another
// peer, begins these times anew; Apply does not.
var ErrMediaTimeout = errors.New("media timeout")

// Frame is 20 ms of a call, both sides of it: MediaSession.Rate/50 samples each.
type Frame struct {
	In      []int16       // what the peer sent, concealed where packets are missing, zeros before its first authentic one; never empty
	Out     []int16       // what was played to the peer in the same 20 ms, as it was written; nil: silence, and always on hold
	Digit   byte          // the DTMF digit whose event began in these 20 ms; 0: none
	Held    bool          // the peer does not hear us, or sends nothing, because it holds the call
	Elapsed time.Duration // since the first frame, in steps of 20 ms; greater in each frame than in the one before
}

// MediaStats counts one call's packets. Times and rates follow RFC 3550, section 6.4.
type MediaStats struct {
	Codec           string // Negotiated.Codec, whichever codec the peer sends
	Sent, Received  uint64 // RTP packets
	Lost, Late, Bad uint64 // missing by sequence number; too late to be played; not authentic or malformed
	Jitter          time.Duration
	RoundTrip       time.Duration // from RTCP; 0 when the peer sends none
	PeerLost        float64       // share that the peer says it lost, 0 to 1
	// Fault is what kept the peer's audio from being heard: FaultUndecodable, a colon and the details. It is empty when there was
	// nothing, and stays when the fault is over.
	Fault string
}

// FaultUndecodable names the fault of audio that came for 3 s and could not be decoded: its payload type was not negotiated,
// or its payloads are malformed.
const FaultUndecodable = "undecodable_audio"

// Codec turns 20 ms of audio into a payload and back. Each direction of a call has one of its own: what one encodes or
// decodes does not change another, and new ones of a name are alike: the same audio gives the same payloads. Together, Encode and Decode
// delay audio by less than 20 ms. siptest.RunCodec tests it.
type Codec interface {
	// Name returns the encoding name of the SDP (RFC 4855), such as "PCMU".
	Name() string
	// Rate returns the samples a second of the audio, at least 8000 and whole in 20 ms.
	Rate() int
	// Clock returns the ticks a second of the RTP timestamps, at least 8000 and whole in 20 ms, which for G722 and Opus is not the Rate.
	Clock() int
	// Encode appends the payload of 20 ms of audio to dst, of 1 to 1200 bytes, also of silence. Audio of another length, which a peer
	// may ask for, is encoded whole or an error; then the peer gets 20 ms. Encode does not allocate when dst has room, and leaves dst
	// as it was when it fails.
	Encode(dst []byte, pcm []int16) ([]byte, error)
	// Decode appends all samples of a payload to dst. Payloads may be missing, and may hold anything: after an error,
	// which leaves dst as it was, and after a loss the next payloads decode, after half a second with no more than 6 dB less than the
	// codec's ratio of signal to noise. Decode does not allocate when dst has room.
	Decode(dst []int16, payload []byte) ([]int16, error)
}

// Codecs makes a codec by its SDP name; CodeUnavailable for one without an engine.
type Codecs func(name string) (Codec, error)
