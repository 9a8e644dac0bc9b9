// Package sipp runs sipp scenarios for end-to-end tests: servers that answer a call in ways in which no telephone does.
// Debian's sipp speaks no TLS, so a front of our own takes its TLS off.
package sipp
