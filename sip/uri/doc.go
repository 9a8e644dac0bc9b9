// Package uri is the vocabulary of where a call goes: SIP, SIPS and tel URIs (RFC 3261, 19.1 and 25.1; RFC 3966), and
// the looser forms in which people write down a server ([ParseDestination]).
//
// Nothing here resolves a name or opens a connection. A parsed value holds no control character, no escape that hides
// one, and no host but an IP address or a well-formed host name, so it can be put into a message as it is.
package uri
