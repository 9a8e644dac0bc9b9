// Package triage manages issues and their activity feeds. An issue records a problem, and its feed records the events of the issue.
//
// Every change of an issue writes its feed entries in the same transaction, so that feed and issue always agree. Entries are immutable. The
// times of an issue's entries strictly increase in commit order: a reader that continues after an entry misses none.
//
// Every method that accesses issues accepts the organization. Methods that change an issue also accept the Actor, except Append, which
// writes as the agent of a session. For another organization's issues, methods return CodeNotFound.
package triage
