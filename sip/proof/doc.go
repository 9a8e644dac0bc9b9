// Package proof lets organizations prove that they answer a phone number, before they attach the number for inbound calls.
//
// [Service.Request] stores a [Proof] and enqueues a task. The task generates a code of 6 digits, and stores its HMAC and the time of the
// call with compare-and-set before dialing. A repeated task therefore does not call again, and the code itself is never stored. The call
// reads the code out twice; [Service.Verify] checks it. [Proven] reports proven numbers to package sip.
package proof
