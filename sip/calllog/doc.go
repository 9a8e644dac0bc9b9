// Package calllog logs the calls over trunks: one [Record] for each call attempt, with the ladder of its SIP messages.
//
// [Service] is an [AttemptObserver]: the user agent notifies it when an attempt begins, is answered and ends. Service passes evidence about
// the server of an attempt to a [Monitor]. Service.Run ends the open records of dead nodes, and deletes records whose retention period is
// over. List and Get read the log.
package calllog
