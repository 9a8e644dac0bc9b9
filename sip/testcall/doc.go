// Package testcall rings a trunk's endpoint with a real call and shows step by step what happens.
//
// Start checks the number and the organization's limit, and the call runs in the background on this node: the Line
// tells each step, which is written down as it happens; to whoever answers a Prompt is played, and a second later the
// call is ended. It is over within a minute, whatever the other side does, and one whose node died is ended by another.
package testcall
