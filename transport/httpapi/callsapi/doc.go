// Package callsapi serves the operations of calls and recordings, and sends the events of calls to webhooks.
package callsapi
