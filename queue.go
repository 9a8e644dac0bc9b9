package callwright

// Queue names a queue of durable work. Each queue has workers of its own on every node, so that work that hangs holds up
// nothing in another queue. A program may have queues beside those below; a name has 1 to 64 lower-case letters and digits, and
// single underscores between them.
type Queue string

// The queues of this module, by what their steps wait for.
const (
	QueueCalls    Queue = "calls"    // starts calls, and closes those of nodes that died
	QueueWebhooks Queue = "webhooks" // waits for the webhooks of organizations
	QueueMail     Queue = "mail"     // waits for the mail server
	QueueModels   Queue = "models"   // waits for a language model
	QueueTests    Queue = "tests"    // creates, ends and concludes agent tests
	QueuePorting  Queue = "porting"  // waits for the gateways of carriers
	QueueUpkeep   Queue = "upkeep"   // reports failures, and removes what is kept no longer
)
