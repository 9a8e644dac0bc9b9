// Package callsapi serves calls, their records and recordings, and tells webhooks about them.
package callsapi
