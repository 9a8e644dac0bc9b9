// Package discovery finds out what listens at a host: it resolves the name, asks the usual SIP ports with OPTIONS, and
// recommends how to connect.
package discovery
