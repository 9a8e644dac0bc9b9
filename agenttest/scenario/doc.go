// Package scenario has what agent tests test: scenarios with their simulated caller, their settings and their assertions.
package scenario
