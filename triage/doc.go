// Package triage manages issues and the activity feed of each. An issue records a problem; its feed records all events of the
// issue.
//
// Every change of an issue writes its feed entries in the same transaction, so that feed and issue never disagree.
// Entries are immutable. The entries of one issue have strictly increasing times in commit order: a reader that
// continues from an entry misses none.
//
// Every method takes the organization and, if it changes an issue, the Actor. Another organization's issues look absent.
package triage
