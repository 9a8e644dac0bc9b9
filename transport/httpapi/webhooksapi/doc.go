// Package webhooksapi serves the operations of an organization's webhook hosts to which messages are paused.
package webhooksapi
