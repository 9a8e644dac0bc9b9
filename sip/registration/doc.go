// Package registration maintains the registrations of inbound trunks with customers' servers (RFC 3261, section 10): it registers,
// refreshes bindings before they expire, retries with backoff, and registers again when a connection is lost. [Machine] is the state
// machine of one registration; [Service] maintains a node's share of the registrations over a [Line].
package registration
