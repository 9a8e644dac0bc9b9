package secure

import (
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"github.com/callwright/callwright/sip/sdp"
)

// Overhead is the maximum number of bytes that protection adds to a packet: 4 for SRTCP's index and 10 for the tag.
const Overhead = 14

// Sealer protects our packets under one key. It must live as long as its key is in use: a second Sealer for the same key would restart the
// packet index and encrypt two packets with the same key stream.
type Sealer struct {
	crypto sdp.Crypto
	ctx    context
	rtp    rtp.Header
	rtcp   rtcp.Header
}

// NewSealer returns a Sealer for the key of our a=crypto line. It returns an error if c contains no key.
func NewSealer(c sdp.Crypto) (*Sealer, error) {
	ctx, err := newContext(c)
	if err != nil {
		return nil, err
	}
	return &Sealer{crypto: c, ctx: ctx}, nil
}

// Under reports whether c holds the sealer's key and key identifier.
func (s *Sealer) Under(c sdp.Crypto) bool { return sameKey(s.crypto, c) }

// RTP protects an RTP packet. It uses the memory of dst if the capacity suffices for the packet and Overhead. dst may be packet itself.
func (s *Sealer) RTP(dst, packet []byte) ([]byte, error) {
	return s.ctx.EncryptRTP(dst, packet, &s.rtp)
}

// RTCP protects a compound RTCP packet. The result is a new slice.
func (s *Sealer) RTCP(packet []byte) ([]byte, error) {
	return s.ctx.EncryptRTCP(nil, packet, &s.rtcp)
}

func sameKey(a, b sdp.Crypto) bool { return a.Key.Equal(b.Key) && string(a.MKI) == string(b.MKI) }
