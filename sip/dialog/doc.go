// Package dialog is the state machine of one SIP call (RFC 3261, 3264, 4028, 3515): its dialog, session timer, transfer and end. It is
// pure: [Call.Next] accepts an event (a message, a command or an expired timer) and returns the call's next state and the effects to
// execute: messages to send, timers to set, and reports to the call's owner. Because it uses no sockets, parser or clock, tests can apply
// events in every order.
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
// The invariants:
//   - A 2xx to an INVITE is always acknowledged. A 2xx to a canceled call, or from another branch of a forked INVITE, is acknowledged and
//     then ended with BYE.
//   - CANCEL is sent only after a 1xx (RFC 3261, section 9.1). A call that is canceled earlier waits for the first 1xx.
//   - Our own 2xx is retransmitted until the ACK arrives. Without an ACK for 64*T1 the call is ended with BYE (RFC 3261, section 13.3.1.4).
//   - Each call has exactly one [Ended], which is its last effect for the owner.
//   - Each call has one [StopMedia], before or together with Ended.
//
// A peer may transfer us (REFER): the owner decides and reports, and the state machine answers 202 and sends the NOTIFYs. A failed transfer
// leaves the call unchanged; after a successful transfer the call ends.
//
// Hold is a re-INVITE whose direction concerns only the media, so it is not a state here. This program may reorder requests although TLS
// preserves their order. An in-dialog request before the ACK therefore implies the ACK.
package dialog
