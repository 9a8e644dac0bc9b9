// Package resolve locates SIP servers (RFC 3263). For a host name without a port, it uses SRV records, in the order of RFC 2782. If there
// are none, or the URI has a port, it uses A and AAAA records.
//
// It locates only servers for SIP over TLS. It does not query NAPTR records, which select a transport.
package resolve
