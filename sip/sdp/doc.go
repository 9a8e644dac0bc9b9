// Package sdp parses and writes session descriptions (RFC 8866) for one secure audio stream, and implements the offer/answer
// model (RFC 3264).
//
// Its core is three pure functions:
//
//   - [Offer] makes the offer for an INVITE, or for the 200 to an INVITE without one;
//   - [Answer] takes a peer's offer, and returns the answer and the negotiated session;
//   - [Accept] takes our offer and the peer's answer, and returns the negotiated session.
//
// For a re-INVITE, [Capabilities].Previous is the last description that we sent in the dialog: the session id and our SRTP key
// stay, the version counts up, the m= lines and payload types keep their places and meanings. [Capabilities].Hold holds and
// resumes.
//
// SRTP keyed by SDES (RFC 4568) with AES_CM_128_HMAC_SHA1_80 is required. Any other offer or answer is refused with a
// [Rejection], which names the SIP response; there is no fallback.
//
// The package does no I/O and resolves no names. A Description and a Negotiated are immutable and may be shared.
package sdp
