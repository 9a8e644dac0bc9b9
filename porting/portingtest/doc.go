// Package portingtest contains the conformance suites for the ports of package porting. An adapter of a port is complete when it passes the
// port's suite.
package portingtest
