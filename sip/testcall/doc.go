// Package testcall places test calls to a trunk's endpoint and records their steps.
//
// [Service.Start] checks the number and the organization's limit, and runs the call in the background on this node. The [Line] reports each
// step, and the service stores it within moments. After the answer, the service plays the [Prompt], and hangs up one second after its end.
// A test call lasts at most a minute. If a node dies, another node finishes its calls.
package testcall
