// Package callsapi serves calls, their records and recordings, and reports their events to webhooks.
package callsapi
