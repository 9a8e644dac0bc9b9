// Package monitor watches trunks: it probes each server with OPTIONS every minute, takes evidence from calls, orders the
// servers for calls, and raises and resolves alerts. Several nodes share the work: a lease gives each trunk to one of them
// at a time.
package monitor
