// Package delivery delivers messages to webhooks: it schedules the attempts, bounds those that are under way at a host, pauses hosts that
// take nothing, and lists the messages that were not taken at the first attempt.
package delivery
