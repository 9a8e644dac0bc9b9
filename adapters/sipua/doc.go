// Package sipua speaks SIP over TLS: it is agents/call's Line, made of sipgo's parser, transport and transactions.
// Everything above a transaction is sip/dialog's machine; this package carries out what the machine decides.
//
// One call is one machine behind one mailbox, so its messages are handled one after another although sipgo hands out
// each in a goroutine of its own. A call costs no goroutine while nothing happens to it.
//
// TLS is 1.2 or newer and there is nothing else: no UDP, no TCP, no fallback. A trunk's peer is verified against the
// trunk's host, whatever address a Contact or a Record-Route names later; each pair of host and way of verification has
// connections of its own. Inside a dialog requests take the connection that the call came over, as long as it lives and
// no Record-Route names another place.
//
// A call that goes out tries the servers of its trunk one after the other, as sip/failover says, each at every address
// that sip/resolve finds. Every attempt has a ladder and a record in the journal, and so has every call that comes in for
// a number that somebody has. An attempt that is given up lives on beside the next one until nothing of it is left at the
// peer: a late answer is acknowledged and ended.
//
// A CANCEL is answered by sipgo's transaction, with a To tag of its own in the 487. Peers match that answer by its
// branch, not by its tag.
package sipua
