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
// Who calls us has no place for a call, no port and no 100 before it is known that the call may come in: first the limits
// of its source, then the route, then its proof where the trunk has credentials. Whoever may not gets the same bare 403,
// and after 20 of them within a minute no answer at all, unless good calls come from there too. A challenge that nobody
// answers leaves nothing behind. An OPTIONS is answered to everybody: carriers look in that way whether we are there.
//
// A trunk may register with its customer's server. Its calls then come over the connection that we have made for that,
// and over that connection alone they are known to be its own.
//
// A CANCEL is answered by sipgo's transaction, with a To tag of its own in the 487. Peers match that answer by its
// branch, not by its tag.
package sipua
