// Package webhooksapi serves the operations on webhook hosts to which an organization's messages are paused.
package webhooksapi
