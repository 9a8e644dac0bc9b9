// Package trusted holds the addresses that many callers share: the carriers and proxies that a trunk or the operator names. A user agent
// does not block these addresses for the behavior of single callers behind them.
package trusted
