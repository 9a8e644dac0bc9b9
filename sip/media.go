package sip

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/callwright/callwright/sip/sdp"
)

// Media moves the audio of calls: it is the port between who speaks SIP and who speaks RTP.
type Media interface {
	// Open takes an even UDP port for RTP and the next one for RTCP (RFC 3550, section 11). It is CodeUnavailable, with
	// nothing taken, when no pair is free.
	Open(ctx context.Context) (MediaSession, error)
}

// MediaSession is one call's audio. Its goroutines and ports are free when Close returns.
type MediaSession interface {
	// Local is the address and the RTP port to put into our SDP.
	Local() netip.AddrPort
	// Apply starts the media as negotiated, or changes it after a new offer and answer: codec, addresses, keys,
	// direction. Keys that stay the same keep their SRTP contexts, so sequence numbers and rollover counters go on.
	Apply(n sdp.Negotiated) error

	// Rate is the samples a second of the negotiated codec; 8000 before Apply.
	Rate() int
	// Read waits for the next 20 ms, both sides of them. The slices are good until the next Read. io.EOF after Close,
	// ErrMediaTimeout when the peer has been silent on the wire for too long. One goroutine reads.
	Read(ctx context.Context) (Frame, error)
	// Write queues audio and waits while more than 200 ms are queued. One goroutine writes.
	Write(ctx context.Context, samples []int16) error
	// Queued is the number of samples not yet played; Flush drops them and says how many.
	Queued() int
	Flush() int
	// SendDTMF sends digits as telephone-events (RFC 4733) after what is queued and waits until they are sent: 0-9,
	// A-D, *, #, and w for a pause of half a second. Without telephone-event in the SDP it is CodeUnavailable.
	SendDTMF(ctx context.Context, digits string) error

	// Stats is what has been sent and received up to now.
	Stats() MediaStats
	// Close says goodbye (RTCP BYE), stops the pacer and frees the ports. It may be called twice.
	Close() error
}

// ErrMediaTimeout says that nothing authentic has come from the peer for the time that a call may be silent: 30 s
// before the first packet, 15 s after it, neither while on hold.
var ErrMediaTimeout = errors.New("media timeout")

// Frame is 20 ms of a call, both sides of it.
type Frame struct {
	In      []int16       // what the peer sent, concealed where packets are missing; never empty
	Out     []int16       // what was played to the peer in the same 20 ms; nil: silence
	Digit   byte          // the DTMF digit whose event began in these 20 ms; 0: none
	Held    bool          // the peer does not hear us, or sends nothing, because it holds the call
	Elapsed time.Duration // since the first frame
}

// MediaStats counts one call's packets. Times and rates follow RFC 3550, section 6.4.
type MediaStats struct {
	Codec           string
	Sent, Received  uint64 // RTP packets
	Lost, Late, Bad uint64 // missing by sequence number; too late to be played; not authentic or malformed
	Jitter          time.Duration
	RoundTrip       time.Duration // from RTCP; 0 when the peer sends none
	PeerLost        float64       // share that the peer says it lost, 0 to 1
}

// Codec turns 20 ms of audio into a payload and back. It keeps no state between calls' directions: each call makes two.
type Codec interface {
	// Name is the encoding name of the SDP (RFC 4855), such as "PCMU".
	Name() string
	// Rate is the samples a second of the audio, and Clock that of the RTP timestamps; they differ for G722.
	Rate() int
	Clock() int
	// Encode appends the payload of pcm to dst; Decode appends the samples of a payload to dst. Neither allocates when
	// dst has room.
	Encode(dst []byte, pcm []int16) ([]byte, error)
	Decode(dst []int16, payload []byte) ([]int16, error)
}

// Codecs makes a codec by its SDP name; CodeUnavailable for one without an engine.
type Codecs func(name string) (Codec, error)
