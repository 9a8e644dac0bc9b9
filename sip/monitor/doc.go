// Package monitor watches trunks: it probes each server with OPTIONS, normally every minute, evaluates evidence from calls, orders the
// servers for calls, and raises and resolves alerts. Several nodes share the work: a lease ensures that only one node at a time probes a
// server or records a trunk's status.
package monitor
