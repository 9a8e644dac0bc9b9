// Package calllog keeps the log of calls over trunks: one [Record] for each attempt at a call, with the ladder of its
// messages.
//
// [Service] is an [AttemptObserver]: the user agent reports to it when an attempt begins, is answered and ends. Service passes the
// evidence of an attempt about a server to a [Monitor]. Its Run ends the open records of stopped nodes, and deletes records whose
// retention period is over. List and Get read the log.
package calllog
