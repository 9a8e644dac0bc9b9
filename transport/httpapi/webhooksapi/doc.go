// Package webhooksapi serves the hosts to which messages of an organization are paused.
package webhooksapi
