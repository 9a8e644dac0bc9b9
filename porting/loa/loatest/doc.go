// Package loatest contains the conformance suites for the ports of package loa, and a Renderer for tests. An adapter of a port is complete
// when it passes the port's suite.
package loatest
