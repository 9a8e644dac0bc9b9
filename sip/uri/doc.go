// Package uri parses and formats SIP, SIPS and tel URIs (RFC 3261, 19.1 and 25.1; RFC 3966), and the looser notations for a server
// ([ParseDestination]).
//
// It resolves no names and opens no connections. A parsed value contains no control characters, escaped or not, and its host is an IP
// address or a well-formed host name, so that it can be inserted into a message unchanged.
package uri
