// Package delivery delivers messages to webhooks. It schedules attempts, limits concurrent attempts at a host, pauses hosts that accept no
// message, and lists the messages whose first attempt failed.
package delivery
