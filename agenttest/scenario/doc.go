// Package scenario defines the tests of agents: scenarios with their simulated caller, their settings and their assertions.
package scenario
