// Package message converts between SIP messages and the values that the rest of the user agent uses.
//
// Every received request must pass [Validate] first. [ReadRequest] and [ReadResponse] extract the values for the dialog's state machine,
// and other functions extract the numbers and headers of a new call. [Identity] builds the requests and responses of a dialog. [Event]
// summarizes a message for a call's ladder without its secrets.
//
// The package depends on neither connections nor calls.
package message
