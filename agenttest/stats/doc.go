// Package stats counts what came out of many runs of scenarios: rates with their intervals, scores, flakiness and common
// failures. Its functions are pure.
//
// Only runs that have passed or failed are scored. Runs that ended as errors or were cancelled say nothing about the agent:
// they never count in a rate, but in the coverage.
package stats
