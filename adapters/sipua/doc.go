// Package sipua is a SIP user agent over TLS, built on sipgo's parser, transport and transactions. It is the
// agents/call.Line for phone calls, the registration.Line of trunks, and the testcall.Line of test calls.
//
// The package decides about calls: which requests become calls (admission), which server a call is placed at (failover),
// and how many calls run. Below it, each on top of the next, lie internal/leg and internal/binding (INVITE dialogs and
// registrations), internal/transport (connections, flows and client transactions) and internal/message (building and
// reading messages).
//
// # Security
//
// TLS 1.2 or newer is the only transport: there is no UDP, no TCP and no fallback. A trunk's server is verified against
// the trunk's host, regardless of the addresses in a later Contact or Record-Route. In-dialog requests take the connection that
// the dialog came over while it is open and no Record-Route leads elsewhere.
//
// A caller gets no slot, no media port and no 100 Trying before the call is admitted: first by the limits of its source,
// then by its route, then by digest authentication where the trunk has credentials. Callers without the right to call all
// get the same bare 403; after 20 of them, or 100 other refused requests, within a minute a source is blocked, unless it also
// sends admitted calls. An unanswered challenge leaves no state, and no refusal does. OPTIONS is answered to everybody, because
// carriers probe with it, as often as INVITEs are. Requests are handled in the goroutine that reads their connection, so a
// source that floods costs no more than its connections; its pace counts over all of them.
//
// # Outbound calls
//
// A call tries its trunk's servers in order, as sip/failover says, each at every address that sip/resolve finds. Every
// attempt has a ladder and a call record. An attempt that was given up lives on beside the next one until nothing of it is
// left at the peer: a late 2xx is acknowledged and followed by BYE.
//
// # Registrations
//
// A trunk may register with its customer's server. Its inbound calls then come over the connection of the registration,
// and only over that connection they are known to be the trunk's.
package sipua
