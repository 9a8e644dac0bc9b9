// Package failover decides which of a trunk's servers a call goes to, and which failure sends it to the next one.
//
// Only what is technical moves a call: a server that can't be reached, that stays silent, that is out of order or whose
// authentication fails. What the callee decides stays decided, and a call that rang stays where it rang.
package failover
