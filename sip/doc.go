// Package sip is trunking: which telephone numbers are attached to which peers, and what a call needs to know of that.
//
// A trunk is one direction of one number: inbound (the customer's system calls us at that number) or outbound (we call
// through the customer's system with that number as the caller). Its sub-packages hold the field's own vocabulary: uri,
// sdp and dialog.
package sip
