package delivery

import (
	"context"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// Message identifies a message to a webhook.
type Message struct {
	Org     callwright.OrgID
	Kind    MessageKind
	ID      string // unique among the organization's messages of this kind; the same at every attempt
	Subject string // id of the subject: see MessageKind
	URL     string
}

// key returns the ID of the message's Delivery.
func (m Message) key() string { return string(m.Kind) + "/" + m.ID }

// MessageKind is the kind of event or record that a message is about.
type MessageKind string

// These constants are the kinds of this module's messages. An embedding program may define its own kinds.
const (
	MessageCall      MessageKind = "call"       // record of a call; Subject is the call's id
	MessageCallEvent MessageKind = "call_event" // event of a call; Subject is the call's id
	MessageTestRun   MessageKind = "test_run"   // end of a test run; Subject is the run's id
	MessageTestBatch MessageKind = "test_batch" // end of a batch or simulation set; Subject is its id
	MessagePort      MessageKind = "port"       // entry of a port request's history; Subject is the request's id
	MessageAlert     MessageKind = "alert"      // alert of a trunk; Subject is the trunk's phone number
)

// Delivery describes the attempts at a message whose first attempt has failed.
type Delivery struct {
	Org      callwright.OrgID
	ID       string // kind and id of the message, separated by a slash
	Kind     MessageKind
	Subject  string
	Host     string // host of the URL; the rest of the URL may be secret
	State    State
	Attempts int
	Failure  string     // reason of the last failed attempt, human-readable
	Since    time.Time  // time of the first failed attempt
	Last     time.Time  // time of the last attempt
	Next     *time.Time // time of the next attempt; nil if there is none
}

// State is the state of a Delivery: whether it waits for another attempt.
type State string

// These constants are the states of a Delivery. Only Pending is not final.
const (
	Pending   State = "pending"   // another attempt follows
	Delivered State = "delivered" // the webhook has accepted the message
	GivenUp   State = "given_up"  // the webhook refused it permanently or did not accept it within a day, or Log.GiveUp was called
)

// Store stores deliveries. Org and ID identify a delivery. The store returns every field unchanged, and times in UTC with microseconds.
// Arguments and returned values share no memory with stored values. callwrighttest.RunDeliveryStore tests it.
type Store interface {
	// StoreDelivery adds a delivery. If the delivery is already stored, StoreDelivery leaves its Since unchanged, adds d.Attempts to its
	// Attempts, and replaces all other fields. StoreDelivery also deletes deliveries of the organization whose Since is before the given
	// time: at least one of them, unless other transactions lock all. The stored delivery may be among the deleted ones. The zero time
	// deletes none.
	StoreDelivery(ctx context.Context, d Delivery, before time.Time) error
	// FinishDelivery copies State, Last and Failure of d to a pending delivery, adds d.Attempts to its Attempts, and clears Next. It leaves
	// Failure unchanged if d.Failure is empty. If the delivery is absent or not pending, it changes nothing and returns nil.
	FinishDelivery(ctx context.Context, d Delivery) error
	// Deliveries returns at most limit deliveries of an organization whose Since is at or after the given time, in descending order of
	// (Since, ID). The parameter after is the keyset of the last delivery on the previous page, or zero for the first page. An empty state
	// selects all states.
	Deliveries(ctx context.Context, org callwright.OrgID, state State, since time.Time, after callwright.Keyset, limit int) ([]Delivery, error)
}

// These constants limit a Log.
const (
	Retention          = 30 * 24 * time.Hour // how long a delivery is stored and listed after its first failed attempt
	MaxPage            = 1000                // deliveries in a page
	maxDeliveryFailure = 500                 // bytes of Delivery.Failure
	mostAttempts       = 100                 // default of LogConfig.Workers
)

// LogConfig lists the ports and limits of a Log.
type LogConfig struct {
	Store     Store         `required:"always"`
	Endpoints EndpointStore // if nil, no endpoint is paused

	Atomic        callwright.Atomic            `required:"with Endpoints"` // transactions of Endpoints
	Work          callwright.Work              `required:"with Endpoints"` // sends the notices of pauses
	Organizations callwright.OrganizationStore `required:"with Endpoints"` // provides the ContactEmail for the notices
	Mailer        callwright.Mailer            `required:"with Endpoints"`
	Workers       int                          // concurrent tasks of QueueWebhooks on this node, which limit the attempts; 0 means 100
	Page          string                       // where people resume endpoints; empty means Settings, Deliveries of the dashboard

	callwright.Runtime
}

// Log limits the attempts at messages to webhooks, schedules the next attempts, and lists the messages whose first attempt failed. A nil
// *Log schedules attempts, but has no limits and no list.
type Log struct {
	cfg   LogConfig
	lanes lanes
}

// NewLog checks the configuration. If c.Endpoints is set, it registers the task that notifies owners of paused endpoints.
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

// Attempted stores the result of an attempt at a message. It joins the transaction of ctx if there is one. A nil failure means that the
// webhook accepted the message. next is the time of the next attempt; the zero time means that the message is given up.
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

// storedFailure converts a text to a Delivery.Failure that every database can store: valid UTF-8 without NUL, clipped to
// maxDeliveryFailure.
func storedFailure(text string) string {
	return callwright.Clip(strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", ""), maxDeliveryFailure)
}

// Redeliver stores the result of an attempt at a message. happened is the time of the event that the message is about. Redeliver returns
// the error with which the task must retry, by the schedule of the function Redeliver. It returns nil if the message is delivered or given
// up. If the end of ctx interrupted the attempt, Redeliver returns failure and stores nothing.
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

// GiveUp marks a pending message as given up, with the reason. It changes no other message.
func (d *Log) GiveUp(ctx context.Context, m Message, why string, at time.Time) error {
	if d == nil {
		return nil
	}
	return d.cfg.Store.FinishDelivery(ctx, Delivery{Org: m.Org, ID: m.key(), State: GivenUp, Failure: storedFailure(why), Last: at})
}

// List returns a page of at most limit deliveries of an organization, in descending order of their first failed attempt. limit must be from
// 1 to MaxPage. An empty state selects all states. List returns CodeBadRequest with the field state or limit if one of these is invalid.
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
