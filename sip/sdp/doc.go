// Package sdp reads and writes session descriptions (RFC 8866) for one secure audio stream, and holds the offer/answer
// rules (RFC 3264) by which two phones agree on it.
//
// The engine is three pure functions:
//
//   - [Offer] makes the description that goes into an INVITE, or into the 200 of an INVITE that came without one;
//   - [Answer] takes a peer's offer and gives the answer and what was agreed;
//   - [Accept] takes our offer and the peer's answer and gives what was agreed.
//
// A re-INVITE is the same call with [Capabilities].Previous set to the description that we sent last in the dialog: the
// session id stays, the version counts up, the m= lines keep their places, payload types keep their meaning and our SRTP
// key stays. Hold and resume are [Capabilities].Hold.
//
// Only SRTP keyed by SDES (RFC 4568) with AES_CM_128_HMAC_SHA1_80 is ever agreed. An offer or answer without it is
// refused with a [Rejection], which names the SIP response; nothing weaker is fallen back to.
//
// The package does no I/O and resolves no names. A Description and a Negotiated are immutable and may be shared.
package sdp
