// Package probe asks SIP servers with OPTIONS, over UDP, TCP and TLS: once for a discovery, and again and again for
// health. It is small beside a user agent: a question, an answer, no transactions, nobody who listens.
//
// What a peer sends is read with bounds, and nothing of it comes out as it came but the headers for the fingerprint.
package probe
