// Package header maps SIP headers to a call's variables and back, by the rules of a trunk: custom headers, and
// User-to-User information (RFC 7433).
package header
