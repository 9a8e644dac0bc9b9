// Package leg drives call legs. A leg is one INVITE dialog, from the first INVITE to the final response to BYE.
//
// A [Leg] consists of a dialog state machine (sip/dialog) and a mailbox. The mailbox handles messages one after another, although sipgo
// delivers each in a new goroutine. The leg converts messages to events of the machine and executes the machine's effects: it sends
// requests and responses, arms timers, negotiates media and writes the attempt's log. An idle leg occupies no goroutine.
//
// An answered leg implements call.Leg.
package leg
