// Package sdp parses and writes session descriptions (RFC 8866) for one secure audio stream, and implements the offer/answer model (RFC
// 3264).
//
// Its core consists of three pure functions:
//
//   - [Offer] creates the offer for an INVITE, or for the 200 to an INVITE without an offer;
//   - [Answer] accepts a peer's offer, and returns our answer and the negotiated session;
//   - [Accept] accepts the peer's answer to our offer, and returns the negotiated session.
//
// For a re-INVITE, set [Capabilities].Previous to the last description that we sent in the dialog: the session id and our SRTP key then
// stay the same, the version increases, and the m= lines and payload types keep their places and meanings. Set or clear [Capabilities].Hold
// to hold or resume.
//
// SRTP keyed by SDES (RFC 4568) with AES_CM_128_HMAC_SHA1_80 is required. Any other offer or answer is refused with a [Rejection], which
// contains the SIP response; there is no fallback.
//
// The package does no I/O and resolves no names. A Description and a Negotiated are immutable and may be shared.
package sdp
