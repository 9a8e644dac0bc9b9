// Package call places and answers telephone calls with an agent, and stores one record for each call with its transcript, its logs and its
// recording.
//
// Service.Create checks and queues a call. When the call is due, the task call.place loads the pathway of the call's agent and allocates
// the call to a node. The node fetches the agent's dynamic data and dials. A brain leads the conversation: the program's own brain, a
// pathway, or a prompted agent. Meanwhile a record writer stores the events. One transaction stores the end with its consequences: the
// retry of an unanswered call, and the tasks that analyze the call and notify its webhook.
//
// For an incoming call, the Service first stores the record, then loads the pathway and fetches the dynamic data, and then answers. Each
// call is dialed at most once and ends once, even if nodes die at any moment.
//
// Config lists the ports of a Service. Adapters implement Store, Line with its Leg and IncomingCall, Recordings, Notifier and AMD. Package
// agentstest contains their conformance suites.
package call
