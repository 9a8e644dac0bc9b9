package delivery

import (
	"context"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// Message is a message to a webhook.
type Message struct {
	Org     callwright.OrgID
	Kind    MessageKind
	ID      string // among the messages of its organization and kind, the same at every attempt
	Subject string // the id of its subject: see MessageKind
	URL     string
}

// key returns the id of the message's Delivery.
func (m Message) key() string { return string(m.Kind) + "/" + m.ID }

// MessageKind is the kind of a message's subject.
type MessageKind string

// The kinds. A domain of an embedding program has its own.
const (
	MessageCall      MessageKind = "call"       // the record of a call, by the call's id
	MessageCallEvent MessageKind = "call_event" // something that has happened on a call, by the call's id
	MessageTestRun   MessageKind = "test_run"   // the end of a test run, by its id
	MessageTestBatch MessageKind = "test_batch" // the end of a batch or a simulation set, by its id
	MessagePort      MessageKind = "port"       // an entry of a port request's history, by the request's id
	MessageAlert     MessageKind = "alert"      // an alert of a trunk, by the trunk's number
)

// Delivery is the progress of a message whose first attempt has failed.
type Delivery struct {
	Org      callwright.OrgID
	ID       string // the message's kind and its id, with a slash between them
	Kind     MessageKind
	Subject  string
	Host     string // of the address, the rest of which may be secret
	State    State
	Attempts int
	Failure  string     // the reason of the last failed attempt, human-readable
	Since    time.Time  // of the first failed attempt
	Last     time.Time  // of the last attempt
	Next     *time.Time // of the next attempt; nil: there is none
}

// State is a state of a Delivery.
type State string

// The states.
const (
	Pending   State = "pending"   // it is sent, or sent again, when it is due
	Delivered State = "delivered" // the webhook has taken it
	GivenUp   State = "given_up"  // the webhook refused it permanently, or failed for a day
)

// Store stores deliveries. A delivery is identified by its Org and ID. Every field comes back unchanged; times are returned in UTC,
// exact to the microsecond. Given and returned values share no memory with stored ones. callwrighttest.RunDeliveryStore tests it.
type Store interface {
	// StoreDelivery adds a delivery, or replaces the stored one except for its Since, and adds the Attempts of both. It also
	// deletes some of the organization's deliveries whose Since is before a time, the stored one included or not: at least one, if
	// any is not locked by another transaction. The zero time deletes none.
	StoreDelivery(ctx context.Context, d Delivery, before time.Time) error
	// FinishDelivery copies State, Last and Failure of d to a pending delivery, adds d.Attempts to its Attempts, and clears Next.
	// An empty d.Failure leaves Failure as it is. A delivery that is absent or not pending stays unchanged, without an error.
	FinishDelivery(ctx context.Context, d Delivery) error
	// Deliveries returns up to limit deliveries of an organization whose Since is at or after a time, by Since and then ID, both
	// descending, from after a keyset (Since, ID) on; the zero keyset is the beginning. An empty state selects all.
	Deliveries(ctx context.Context, org callwright.OrgID, state State, since time.Time, after callwright.Keyset, limit int) ([]Delivery, error)
}

// The bounds of a Log.
const (
	Retention          = 30 * 24 * time.Hour // time for which a delivery is listed and stored, from its first failed attempt on
	MaxPage            = 1000                // in a page
	maxDeliveryFailure = 500                 // bytes of Delivery.Failure
	mostAttempts       = 100                 // under way on a node
)

// LogConfig configures a Log.
type LogConfig struct {
	Store     Store         `required:"always"`
	Endpoints EndpointStore // nil: no endpoint is paused

	Atomic        callwright.Atomic            `required:"with Endpoints"` // transactions of Endpoints
	Work          callwright.Work              `required:"with Endpoints"` // mails the notices of pauses
	Organizations callwright.OrganizationStore `required:"with Endpoints"` // whose ContactEmail receives them
	Mailer        callwright.Mailer            `required:"with Endpoints"`
	Workers       int                          // tasks of QueueWebhooks that run concurrently on this node, which bounds the concurrent attempts; 0: 100
	Page          string                       // place where people resume paused endpoints; empty: Settings, Deliveries of the dashboard

	callwright.Runtime
}

// Log bounds the attempts at messages to webhooks, schedules their next ones, and keeps a list of the messages that were not taken
// at the first attempt. A nil *Log schedules, bounds nothing and keeps no list.
type Log struct {
	cfg   LogConfig
	lanes lanes
}

// NewLog checks the configuration, and registers durable work with c.Work.
func NewLog(c LogConfig) (*Log, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.Workers == 0 {
		c.Workers = mostAttempts
	}
	if c.Page == "" {
		c.Page = "Settings, Deliveries of the dashboard"
	}
	d := &Log{cfg: c, lanes: lanes{clock: c.Clock, total: c.Workers}}
	if c.Endpoints != nil {
		taskPaused.Handle(c.Work, callwright.QueueMail, c.Logger, d.tellPaused)
	}
	return d, nil
}

// Attempted notes an attempt at a message, made at a time, in the transaction of ctx if there is one. A nil failure means that the message
// was taken. next is when the message is sent again; zero: it is given up.
func (d *Log) Attempted(ctx context.Context, m Message, failure error, at, next time.Time) error {
	if d == nil {
		return nil
	}
	note := Delivery{Org: m.Org, ID: m.key(), State: Delivered, Attempts: 1, Last: at}
	if failure == nil {
		return d.cfg.Store.FinishDelivery(ctx, note)
	}
	note.Kind, note.Subject, note.Host = m.Kind, m.Subject, HostOf(m.URL)
	note.State, note.Failure, note.Since = GivenUp, storedFailure(callwright.MessageOf(failure)), at
	if !next.IsZero() {
		note.State, note.Next = Pending, &next
	}
	return d.cfg.Store.StoreDelivery(ctx, note, at.Add(-Retention))
}

// storedFailure returns a Delivery.Failure as every database can store it.
func storedFailure(text string) string {
	return callwright.Clip(strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", ""), maxDeliveryFailure)
}

// Redeliver notes an attempt at a message about an event at a time, and returns the error with which its task sends it again by the
// schedule of the function Redeliver; nil: it was delivered or is given up. An attempt that the end of ctx interrupts does not
// count.
func (d *Log) Redeliver(ctx context.Context, m Message, failure error, happened, now time.Time) error {
	if failure != nil && ctx.Err() != nil {
		return failure
	}
	if failure == nil {
		return d.Attempted(ctx, m, nil, now, time.Time{})
	}
	var next time.Time
	again := Redelivery(failure, now.Sub(happened))
	if again != nil {
		wait, _ := callwright.RetryAfter(again)
		next = now.Add(wait)
	}
	if err := d.Attempted(ctx, m, failure, now, next); err != nil {
		return err
	}
	return again
}

// GiveUp marks an undelivered message as given up, with the reason. It changes nothing unless the message is pending.
func (d *Log) GiveUp(ctx context.Context, m Message, why string, at time.Time) error {
	if d == nil {
		return nil
	}
	return d.cfg.Store.FinishDelivery(ctx, Delivery{Org: m.Org, ID: m.key(), State: GivenUp, Failure: storedFailure(why), Last: at})
}

// List returns a page of the deliveries of an organization, of 1 to MaxPage, in descending order of their first failure. An empty
// state selects all; an unknown state is CodeBadRequest with the field state.
func (d *Log) List(ctx context.Context, org callwright.OrgID, state State, after callwright.Keyset, limit int) (callwright.Page[Delivery], error) {
	switch state {
	case "", Pending, Delivered, GivenUp:
	default:
		return callwright.Page[Delivery]{}, callwright.Invalid("state", "must be pending, delivered or given_up")
	}
	if limit < 1 || limit > MaxPage {
		return callwright.Page[Delivery]{}, callwright.Invalid("limit", "must be from 1 to %d", MaxPage)
	}
	found, err := d.cfg.Store.Deliveries(ctx, org, state, d.cfg.Clock.Now().Add(-Retention), after, limit+1)
	if err != nil || len(found) <= limit {
		return callwright.Page[Delivery]{Items: found}, err
	}
	return callwright.Page[Delivery]{Items: found[:limit], Next: callwright.Keyset{At: found[limit-1].Since, ID: found[limit-1].ID}}, nil
}
