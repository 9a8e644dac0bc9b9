// Package analytics describes the runs of a pathway over some days: rates, health, reliability, the trend of the last two weeks, the
// failures blamed on nodes, and the flow of the runs through the nodes. Its functions are pure.
//
// A Counter and a Fold process one run at a time, in a bounded amount of memory. Only runs that have passed or failed are scored: errors
// and canceled runs do not count in rates and scores, but lower the coverage.
package analytics
