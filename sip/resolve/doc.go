// Package resolve finds where a SIP server is (RFC 3263): by SRV records where no port is given, in the order of RFC
// 2782, else by A and AAAA records.
//
// It asks for SIP over TLS alone, so NAPTR records, which choose a transport, are not asked for.
package resolve
