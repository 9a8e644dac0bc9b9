// Package triage keeps issues, things that went wrong and are being looked at, and the feed of what happened to each.
//
// Whatever changes an issue writes an entry into its feed in the same transaction: the feed and the issue never disagree.
// Entries are never changed. Those of one issue are written one after the other, each at a later moment than the one
// before: the order of the feed is the order of the commits, so that whoever follows it misses none.
//
// Who acts is an explicit argument, the Actor. Everything belongs to an organization; what is another's is absent.
package triage
