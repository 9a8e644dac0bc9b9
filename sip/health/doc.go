// Package health is the state machine of a SIP server's health, driven by the evidence of probes and calls. It also holds the
// history of a trunk's uptime and response times.
//
// The machine has hysteresis: one missed response makes a server suspect, not unreachable, and one response does not make
// it healthy again.
package health
