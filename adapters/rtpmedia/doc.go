// Package rtpmedia moves the audio of calls over SRTP: it implements sip.Media and is the only user of the pion libraries.
//
// Each session has one socket for RTP and one for RTCP, a goroutine that reads each, and a pacer that every 20 ms sends a
// packet, takes 20 ms out of the jitter buffer and hands both to Read. Between two calls nothing is shared but the ports.
//
// What goes over the wire: SRTP and SRTCP with AES_CM_128_HMAC_SHA1_80 both ways and nothing else; 20 ms packets without
// a pause, silence included, so that address translators and the peer stay awake; RTCP reports about every five seconds;
// DTMF as telephone-events. The peer is answered where its authentic packets come from (symmetric RTP), which may be
// another place than its SDP says; packets that are not authentic change nothing but a counter.
//
// The pure parts have rooms of their own: internal/jitter (order, delay, concealment), internal/dtmf, internal/secure
// (SRTP) and internal/report (RTCP).
package rtpmedia
