// Package baresip runs baresip, an independent SIP phone, as the other side of end-to-end tests.
//
// A Phone listens for SIP over TLS on a port of 127.0.0.1, does SRTP with keys in the SDP, plays WAV files as its
// microphone, writes received audio into a WAV file, and is driven and watched over a control connection. Its SIP trace
// shows each message that it sent or received. It never verifies certificates.
package baresip
