// Package call makes and takes telephone calls with an agent on them, and keeps one record a call with its transcript,
// its logs and its recording.
//
// A call that is placed goes this way: Create checks and queues it; the step call.place, when its time has come, loads the
// pathway that leads it and takes it to a node; there other systems are asked for what the agent is to know, the line
// dials, and a brain (a pathway's, or a prompted agent's) has the conversation, while a scribe writes down what happens;
// the end is written in one transaction with what follows from it: the second try, if nobody took the call, and the steps
// that analyze the call and tell its webhook. A call that comes in joins at the loading. Whatever node dies at whatever
// moment, each call is dialed at most once, and ends once.
package call
