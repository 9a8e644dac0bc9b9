// Package delivery delivers messages to webhooks: it schedules the attempts, bounds concurrent attempts at a host, pauses hosts
// that accept nothing, and lists the messages whose first attempt failed.
package delivery
