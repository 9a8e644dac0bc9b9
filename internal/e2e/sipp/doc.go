// Package sipp runs sipp scenarios for end-to-end tests: servers that answer a call in ways that no phone can produce on demand. Debian's
// sipp does not support TLS, so that a proxy of this package decrypts its connections.
package sipp
