// Package health is the state machine of a SIP server's health, driven by evidence from probes and calls. It also maintains the history of
// a trunk's uptime and response times.
//
// The state machine has hysteresis: one missed response makes a server suspect, not unreachable, and one response does not make an
// unreachable server healthy.
package health
