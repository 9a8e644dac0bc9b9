// Package porting moves phone numbers from other carriers to this platform.
//
// A request names its numbers and the account at the losing carrier. It waits for the signature under its letter of authorization,
// goes to a carrier through a Gateway, and ends when each of its numbers has ended: docs/states/porting.md shows the states, and
// Rules lists them. Numbers succeed or fail one by one; a Failure gives the reason and the party that must act.
package porting
