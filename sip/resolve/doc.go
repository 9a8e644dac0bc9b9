// Package resolve locates SIP servers (RFC 3263): by SRV records if the URI has no port, in the order of RFC 2782, and
// otherwise by A and AAAA records.
//
// It looks for SIP over TLS only. NAPTR records, which choose a transport, are not queried.
package resolve
