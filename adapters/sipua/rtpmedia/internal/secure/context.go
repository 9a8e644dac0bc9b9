package secure

import (
	"errors"
	"fmt"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/srtp/v2"

	"github.com/callwright/callwright/sip/sdp"
)

// window is the size of the replay window in packets: older packets count as replayed. RFC 3711, 3.3.2, requires at least 64.
const window = 64

// context contains the methods of the SRTP library that this package calls. It protects one direction under one master key. Only this file
// imports the library.
type context interface {
	EncryptRTP(dst, plain []byte, header *rtp.Header) ([]byte, error)
	DecryptRTP(dst, sealed []byte, header *rtp.Header) ([]byte, error)
	EncryptRTCP(dst, plain []byte, header *rtcp.Header) ([]byte, error)
	DecryptRTCP(dst, sealed []byte, header *rtcp.Header) ([]byte, error)
	// SetROC sets the rollover counter of a source and clears its sequence number.
	SetROC(ssrc, roc uint32)
}

// newContext returns a context with replay protection for SRTP and SRTCP, because the library disables it by default.
func newContext(c sdp.Crypto) (context, error) {
	return create(c, srtp.SRTPReplayProtection(window), srtp.SRTCPReplayProtection(window))
}

// newProbe returns a context without replay protection. It serves only to check whether packets are authentic.
func newProbe(c sdp.Crypto) (context, error) {
	return create(c, srtp.SRTPNoReplayProtection(), srtp.SRTCPNoReplayProtection())
}

func create(c sdp.Crypto, options ...srtp.ContextOption) (context, error) {
	if c.Key.IsZero() {
		return nil, errors.New("no SRTP key")
	}
	if len(c.MKI) > 0 {
		options = append(options, srtp.MasterKeyIndicator(c.MKI))
	}
	const profile = srtp.ProtectionProfileAes128CmHmacSha1_80
	made, err := srtp.CreateContext(c.Key.Master(), c.Key.Salt(), profile, options...)
	if err != nil {
		return nil, fmt.Errorf("make an SRTP context: %w", err)
	}
	return made, nil
}

// classify converts the library's error for a well-formed packet to ErrForged or ErrReplayed. Any error other than a wrong tag or a wrong
// key identifier means that the replay window rejects the packet: the library exports no name for that error.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, srtp.ErrFailedToVerifyAuthTag), errors.Is(err, srtp.ErrMKINotFound):
		return ErrForged
	default:
		return ErrReplayed
	}
}
