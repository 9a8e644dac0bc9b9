// Package stats computes statistics of many runs of scenarios: rates with their confidence intervals, scores, flakiness and common
// failures. Its functions are pure.
//
// Only runs that have passed or failed are scored. Errors and canceled runs prove nothing about the agent: they count only in the coverage,
// never in a rate.
package stats
