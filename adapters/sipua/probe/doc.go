// Package probe sends OPTIONS to SIP servers over UDP, TCP and TLS, once for discovery and periodically for health. It sends a request and
// reads the response, without the transactions of a user agent and without a listener.
//
// The size of everything that a peer sends is limited. Only the headers for the fingerprint are returned without a check of their contents.
package probe
