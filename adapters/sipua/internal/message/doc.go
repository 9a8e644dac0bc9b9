// Package message translates between SIP messages and the values that the rest of the user agent works with.
//
// Incoming requests pass [Validate] before any other use. [ReadRequest] and [ReadResponse] extract the values that the
// dialog machine needs; the functions on INVITEs extract the numbers and headers of a new call. [Identity] builds every
// request and response of a dialog, and [Event] summarizes a message for a call's ladder without its secrets.
//
// The package depends on neither connections nor calls.
package message
