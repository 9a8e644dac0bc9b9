// Package header maps SIP headers to a call's variables and back, as a trunk's rules say: custom headers, and
// User-to-User information (RFC 7433).
package header
