// Package rtpmedia moves the audio of calls over SRTP: it implements sip.Media and is the only user of the pion
// libraries.
//
// Each session has one socket for RTP and one for RTCP, a goroutine that reads each, and a pacer that every 20 ms sends
// a packet, takes 20 ms out of the jitter buffer and hands both to Read. Calls share nothing but the pool of ports.
//
// On the wire there is SRTP and SRTCP with AES_CM_128_HMAC_SHA1_80 both ways, and nothing else. Packets of the length that
// the peer asks for are sent without a pause, silence included, which keeps address translators open. RTCP reports every five
// seconds or so. DTMF is sent as telephone-events. Media goes to where the peer's authentic packets come from (symmetric RTP), which
// may not be the address of its SDP. Until something authentic has come from there, an address that the signaling does not
// prove gets a second of audio, then one packet of silence a second, and queued audio waits. Packets that are not authentic
// change nothing but a counter.
//
// The pure parts are packages of their own: internal/jitter (order, delay, concealment), internal/dtmf, internal/secure
// (SRTP) and internal/report (RTCP).
package rtpmedia
