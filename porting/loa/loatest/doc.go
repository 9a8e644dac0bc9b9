// Package loatest holds the conformance suites for the ports of letters of authorization, and a Renderer for tests. An adapter of a port
// is complete when it passes the port's suite.
package loatest
