// Package transport is the user agent's connections: the transport and transaction layers of RFC 3261 over TLS.
//
// [Listener] accepts callers' connections with limits and deadlines. [Stack] holds one instance of sipgo's transport layer,
// sends requests over its connections, and hands the requests that arrive to a [Handler], each with its [ServerTx]. [Pool] holds the stacks for servers that we connect to, one for each [Profile]:
// sipgo pools connections by address alone, so TLS settings must never share a stack. [Flow] is the connection that a
// dialog came over, and finds another one when it has closed (RFC 5626).
package transport
