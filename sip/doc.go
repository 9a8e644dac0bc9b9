// Package sip manages SIP trunks and routes calls over them.
//
// A trunk is one direction of one telephone number. Over an inbound trunk the customer's system calls us at that number; over an outbound
// trunk we call through the customer's system, with that number as the caller. [Service] attaches, configures and detaches trunks. It
// implements [Routes], which routes a user agent's outgoing calls and authorizes its incoming calls.
//
// The main sub-packages are:
//
//   - uri, sdp, dialog, header and ladder: the protocol's vocabulary, without I/O
//   - resolve: finds the servers of a URI (RFC 3263)
//   - health, failover and alert: the state machines of a server, of a trunk's servers and of alerts, without I/O
//   - monitor: probes the servers of trunks, orders them for calls and raises alerts
//   - registration: maintains the registrations of inbound trunks with customers' servers
//   - calllog: logs call attempts
//   - setup: lists the settings that customers need to reach a deployment
//   - discovery and testcall: detect the SIP server at a host, and place a test call
//   - siptest: conformance suites for the ports
package sip
