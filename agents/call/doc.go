// Package call makes and takes telephone calls with an agent on them, and keeps one record a call with its transcript,
// its logs and its recording.
//
// Service.Create checks and queues a call. When its time has come, the task call.place loads the pathway of the call's agent
// and allocates the call to a node. The node fetches the agent's dynamic data and dials. A brain has the conversation: the
// program's own, a pathway's, or that of a prompted agent. A record writer stores what happens meanwhile. The end is
// written in one transaction with what follows from it: the second try if nobody answered, and the tasks that analyze the
// call and notify its webhook.
//
// An incoming call joins where the pathway is loaded. Whichever node dies at whichever moment, each call is dialed at most
// once and ends once.
//
// Config says what a Service needs. The ports that an adapter implements are Store, Line with its Leg and IncomingCall,
// Recordings, Notifier and AMD; package agentstest has their conformance suites.
package call
