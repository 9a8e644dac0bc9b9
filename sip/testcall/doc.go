// Package testcall places test calls to a trunk's endpoint and records their steps.
//
// [Service.Start] checks the number and the organization's limit, and runs the call in the background on this node. The
// [Line] reports each step, which is stored as it happens. After the answer the [Prompt] is played, and a second later the
// call is hung up. A test call takes at most a minute; the calls of a dead node are ended by another node.
package testcall
