// Package sip is trunking: which telephone numbers are attached to which peers, what a call needs to know of that, how
// the peers are, and which calls there have been.
//
// A trunk is one direction of one number: inbound (the customer's system calls us at that number) or outbound (we call
// through the customer's system with that number as the caller). [Service] keeps trunks and answers for them; whoever
// moves calls asks its [Routes] where they may go and tells its [Journal] what became of them.
//
// The sub-packages are pure but for their ports: uri, sdp, dialog, header and ladder are the protocol's vocabulary;
// health, failover, alert and registration hold the machines by which trunks are watched and kept, and monitor,
// discovery and testcall the services that ask and call customers' servers.
package sip
