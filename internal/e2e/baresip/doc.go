// Package baresip runs baresip, an independent SIP phone, as the peer in end-to-end tests.
//
// A Phone listens for SIP over TLS on a port of 127.0.0.1 and uses SRTP with keys in the SDP. It plays WAV files instead of a microphone,
// and writes received audio to a WAV file. Tests control it over a connection to its control module. Its SIP trace contains every message
// that it sent or received. It never verifies certificates.
package baresip
