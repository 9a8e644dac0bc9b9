// Package header maps SIP headers to a call's variables and back, according to the rules of a trunk. It supports custom headers and
// User-to-User information (RFC 7433).
package header
