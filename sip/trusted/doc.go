// Package trusted knows the addresses that many callers share: those of carriers and proxies that a trunk names, or the operator. A
// user agent does not block them for what single callers behind them do.
package trusted
