// Package probe asks SIP servers with OPTIONS, over UDP, TCP and TLS: once for discovery, and periodically for health. It
// sends a request and reads the response, without a user agent's transactions and without a listener.
//
// Everything that a peer sends is read with bounds. Only the headers for the fingerprint are passed on as they came.
package probe
