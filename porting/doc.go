// Package porting moves phone numbers from other carriers to this platform.
//
// A request names its numbers and the account at the losing carrier. After the signature of its letter of authorization, the service passes
// the request to a carrier through a Gateway. The request ends when each of its numbers has ended: docs/states/porting.md shows the states,
// and Rules lists them. Each number succeeds or fails separately; a Failure contains the reason and the party that must act.
package porting
