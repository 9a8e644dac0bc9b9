// Package proof lets organizations prove that they answer a phone number, before they attach it for inbound calls.
//
// [Service.Request] stores a [Proof] and enqueues a step. The step makes a code of 6 digits, stores its HMAC together with the time
// of the call by compare-and-set, and only then dials: a step that runs again does not call again, and the code itself is never
// stored. The call reads the code out twice; [Service.Verify] checks it. [Proven] reports proven numbers to package sip.
package proof
