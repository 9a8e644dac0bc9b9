// Package transport implements the transport and transaction layers of RFC 3261 over TLS for the user agent.
//
// [Listener] accepts the connections of callers, with limits and deadlines. [Stack] holds one instance of sipgo's transport layer, sends
// requests over its connections, and passes each received request with its [ServerTx] to a [Handler]. [Pool] holds the stacks for outbound
// connections, one for each [Profile]: sipgo pools connections only by address, so different TLS settings must never share a stack. [Flow]
// is the connection of a dialog. After the connection has closed, the flow opens another one (RFC 5626).
package transport
