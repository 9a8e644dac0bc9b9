// Package failover orders a trunk's servers for calls, and determines which failures lead to the next server.
//
// Only technical failures lead to the next server: the server is unreachable, does not respond, is out of order or refuses our credentials.
// A response of the callee is final, and so is the result of a call that has rung.
package failover
