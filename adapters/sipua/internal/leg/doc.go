// Package leg drives call legs: one INVITE dialog each, from the first INVITE to the final response to BYE.
//
// A [Leg] is one dialog machine (sip/dialog) behind one mailbox, so its messages are handled one after another although sipgo
// delivers each in a new goroutine. The leg translates messages into the machine's events and carries out the machine's effects: it
// sends requests and responses, arms timers, negotiates media and writes the attempt's log. A leg has no goroutine while nothing
// happens to it.
//
// An answered leg is a call.Leg.
package leg
