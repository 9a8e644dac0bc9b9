// Package calllog keeps the log of calls over trunks: one [Record] for each attempt at a call, with the ladder of its
// messages.
//
// [Service] is an [AttemptObserver]: the user agent reports to it when an attempt begins, is answered and ends. Service
// passes what an attempt says of a server on to a [Monitor]. Its Run ends the records that stopped nodes have left open,
// and removes records whose retention period is over. List and Get read the log.
package calllog
