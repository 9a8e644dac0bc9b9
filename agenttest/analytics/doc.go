// Package analytics describes the runs of a pathway over some days: rates, health, reliability, the trend of a week, which nodes
// failures are blamed on, and the flow of the runs over the nodes. Its functions are pure.
//
// A Counter and a Fold take one run at a time and hold a bounded amount of memory, however many runs there are. Only runs that have
// passed or failed are scored: errors and cancelled runs count in no rate, but in the coverage.
package analytics
