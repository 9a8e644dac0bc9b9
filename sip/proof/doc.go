// Package proof has organizations prove that they answer a phone number before they attach it for inbound calls.
//
// [Service.Request] stores a [Proof] and enqueues a step. The step makes a code of 6 digits, stores its HMAC together with the time of
// the call by compare-and-set, and only then dials: a step that runs again does not call again, and the code is kept nowhere. The
// code is read out twice. [Service.Verify] takes it. [Proven] tells package sip which numbers are proven.
package proof
