// Package dialog is one telephone call as SIP sees it (RFC 3261, 3264, 4028, 3515): who may send what when, and when the
// call is over. It is a pure machine. [Call.Next] takes an event (a message, a command, a timer that fired) and gives
// the call's next state and the effects to carry out: messages to send, timers to arm, what to tell the caller's owner.
// It knows no sockets, no parser and no clock, so every rule can be tested in every order of events.
//
//	outbound                                      inbound
//	New --Dial--> Calling                         New --Incoming--> Offered --Reject, CANCEL--> Ended
//	                | 1xx                                              | Answer
//	                v                                                  v
//	           Proceeding                                          Answered --no ACK for 64*T1--> Leaving
//	 give up |    |    | refusal                                       | ACK
//	         v    |    +--------> Ended                                v
//	    Canceling +-----2xx, ACK------------> Active <-----------------+
//	         | refusal, 64*T1: Ended             | Hangup, media or session timeout, transfer done: BYE
//	         | 2xx: ACK, BYE                     v                        (BYE of the peer: Ended)
//	         +-------------------------------> Leaving --answer to BYE, 10*T1--> Ended
//
// The rules that hold whatever happens:
//   - A 2xx to an INVITE is always acknowledged. One that nobody wants any more, or a second one from another branch of
//     a forked INVITE, is acknowledged and then ended with BYE.
//   - CANCEL goes out after a 1xx only (RFC 3261, 9.1). Given up earlier, the call waits for the first one.
//   - Our own 2xx is repeated until the ACK comes; without an ACK for 64*T1 the call is ended with BYE (13.3.1.4).
//   - There is one [Ended] a call, and it is the last thing that its owner hears.
//   - [StopMedia] comes before or together with Ended, once.
//
// Hold is a re-INVITE whose direction only the media has to know, so it is no state here. Requests may overtake one
// another inside this program although TLS keeps their order: a request of a dialog that comes before the ACK stands for
// the ACK too.
package dialog
