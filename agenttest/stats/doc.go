// Package stats computes statistics of many runs of scenarios: rates with their intervals, scores, flakiness and common failures.
// Its functions are pure.
//
// Only runs that have passed or failed are scored. Errors and cancelled runs are no evidence about the agent: they count only in
// the coverage, never in a rate.
package stats
