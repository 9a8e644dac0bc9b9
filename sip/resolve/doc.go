// Package resolve locates SIP servers (RFC 3263). If the URI has no port, it uses SRV records, in the order of RFC 2782; otherwise it uses
// A and AAAA records.
//
// It locates only servers for SIP over TLS. It does not query NAPTR records, which select a transport.
package resolve
