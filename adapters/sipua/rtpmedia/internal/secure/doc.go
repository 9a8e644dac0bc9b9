// Package secure protects one call's media with SRTP and SRTCP (RFC 3711) under AES_CM_128_HMAC_SHA1_80. A Sealer encrypts sent packets,
// and an Opener decrypts received packets.
//
// It adds three safeguards to the SRTP library:
//
//   - An Opener stores state for authentic sources only. The library stores state for every SSRC that it reads, so a flood of
//     forged packets with random SSRCs would fill the memory.
//   - A key that the peer uses again continues with its former state, so that packets recorded under it cannot be replayed.
//   - After a change of the peer's key, the former key still decrypts packets for Overlap, because packets overtake signaling.
//
// Neither type is safe for concurrent use.
package secure
