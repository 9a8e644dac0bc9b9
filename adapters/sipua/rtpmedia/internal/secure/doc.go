// Package secure protects one call's media with SRTP and SRTCP (RFC 3711), AES_CM_128_HMAC_SHA1_80 both ways: a Sealer
// for sent packets, an Opener for received ones.
//
// It adds to the SRTP library the features that a phone needs and the library leaves open:
//
//   - state is kept for authentic sources only. The library makes a state for every SSRC that it is shown, so a flood of
//     forged packets with random SSRCs would fill the memory;
//   - a key that comes back keeps its state, so that packets recorded under it cannot be replayed;
//   - after a change of the peer's key the old one opens packets for a short while, because packets overtake signalling.
//
// Neither type is safe for concurrent use.
package secure
