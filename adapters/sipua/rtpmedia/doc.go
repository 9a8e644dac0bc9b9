// Package rtpmedia sends and receives the audio of calls over SRTP. It implements sip.Media and is the only package that uses the pion
// libraries.
//
// Each session has a socket for RTP and one for RTCP, a goroutine that reads each socket, and a pacer. Every 20 ms the pacer sends the
// packets that are due, takes 20 ms of audio from the jitter buffer, and passes both directions to Read. Sessions share only the pool of
// ports.
//
// All packets are SRTP and SRTCP with AES_CM_128_HMAC_SHA1_80 in both directions. While the negotiated direction allows it, a session
// continuously sends packets of the length that the peer requests, even during silence, which keeps NAT bindings open. It sends RTCP
// reports about every five seconds, and DTMF as telephone-events.
//
// Media is sent to the address from which the peer's authentic packets arrive (symmetric RTP), which may differ from the address in its
// SDP. An address is unproven until an authentic packet arrives from it, unless the signaling connection proves it. An unproven address
// receives one second of audio and then one packet of silence per second, and queued audio waits. Packets that are not authentic change
// only a counter.
//
// The parts without sockets and clocks are separate packages: internal/jitter (order, delay, concealment), internal/dtmf, internal/secure
// (SRTP) and internal/report (RTCP).
package rtpmedia
