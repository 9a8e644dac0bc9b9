package callwright

// Queue names a queue of durable work. Each queue has separate workers on every node, so that a hanging handler does not delay other
// queues. A program may add queues. A name consists of 1 to 64 lower-case letters and digits, with single underscores between them.
type Queue string

// The queues of this module. Each comment describes the tasks of the queue.
const (
	QueueCalls    Queue = "calls"    // starts calls, and closes calls of dead nodes
	QueueWebhooks Queue = "webhooks" // waits for the webhooks of organizations
	QueueMail     Queue = "mail"     // waits for the mail server
	QueueModels   Queue = "models"   // waits for a language model
	QueueTests    Queue = "tests"    // creates, stops and evaluates agent tests
	QueuePorting  Queue = "porting"  // waits for the gateways of carriers
	QueueUpkeep   Queue = "upkeep"   // runs other short tasks, for example reports of failures and deletions of expired data
)
