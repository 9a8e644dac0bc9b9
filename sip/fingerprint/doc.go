// Package fingerprint identifies the system that sent a SIP response from the headers of the response. It states its confidence and the
// evidence.
package fingerprint
