package callwright

// Queue names a queue of durable work. Each queue has separate workers on every node, so that hanging work does not delay other
// queues. A program may have further queues; a name has 1 to 64 lower-case letters and digits, and single underscores between them.
type Queue string

// The queues of this module, by the purpose of their steps.
const (
	QueueCalls    Queue = "calls"    // starts calls, and closes calls of dead nodes
	QueueWebhooks Queue = "webhooks" // waits for the webhooks of organizations
	QueueMail     Queue = "mail"     // waits for the mail server
	QueueModels   Queue = "models"   // waits for a language model
	QueueTests    Queue = "tests"    // creates, ends and concludes agent tests
	QueuePorting  Queue = "porting"  // waits for the gateways of carriers
	QueueUpkeep   Queue = "upkeep"   // reports failures, and deletes expired data
)
