// Package sipua is a SIP user agent over TLS. It uses the parser, transport and transactions of sipgo. It implements agents/call.Line for
// phone calls, registration.Line for trunks, and testcall.Line for test calls.
//
// The package decides which requests become calls (admission), through which server a call is placed (failover), and how many calls may
// run. It is built on these packages, each of which uses the next: internal/leg and internal/binding (INVITE dialogs and registrations),
// internal/transport (connections, flows and client transactions) and internal/message (building and reading messages).
//
// # Security
//
// TLS 1.2 or newer is the only transport: neither UDP nor TCP is supported, not even as a fallback. A trunk's server is verified against
// the trunk's host, regardless of the addresses in a later Contact or Record-Route. In-dialog requests use the connection of the dialog
// while it is open and no Record-Route leads elsewhere.
//
// Before a call is admitted, its caller receives neither a slot, nor a media port, nor a 100 Trying. Admission checks the limits of its
// source, then its route, then digest authentication if the trunk has credentials. All callers without permission to call receive the same
// bare 403. A source is blocked after 20 of these refusals, or 100 other refused requests, within a minute, unless it also sends admitted
// calls. Neither an unanswered challenge nor a refusal leaves any state. OPTIONS is answered for everyone, because carriers probe with it.
// It has the same rate limit as INVITE. Requests are handled in the goroutine that reads their connection, so that a flooding source costs
// no more than its connections. The rate limit of a source applies to all of its connections together.
//
// # Outbound calls
//
// A call tries its trunk's servers in the order of sip/failover, each at every address that sip/resolve finds. Every attempt has a ladder
// and a call record. An abandoned attempt continues in parallel to the next one until its transaction and dialog have ended: a late 2xx is
// acknowledged and followed by BYE.
//
// # Registrations
//
// A trunk may register with its customer's server. Its inbound calls then arrive over the connection of the registration, and only calls
// over that connection are recognized as the trunk's.
package sipua
