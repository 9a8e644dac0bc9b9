package porting

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
)

// Config configures a Service.
type Config struct {
	Store      Store             `required:"always"`
	Atomic     callwright.Atomic `required:"always"` // transactions of the store
	Work       callwright.Work   `required:"always"` // advances requests
	Gateway    Gateway           `required:"always"` // takes new requests
	Former     []Gateway         // gateways of earlier requests that have not ended
	Documents  Documents         `required:"always"`
	Letters    Letters           `required:"always"`
	Inbound    InboundNumbers    `required:"always"`
	Trunks     Trunks            // nil: a registered number receives calls without a trunk; no number is attached elsewhere
	CallsFrom  []netip.Prefix    // sources of calls to ported numbers whose request names none; empty: unknown
	Mailer     callwright.Mailer // nil: no mail is sent
	Notifier   Notifier          // nil: requests cannot have a webhook
	URLs       callwright.URLs   `required:"with Notifier"` // checks webhooks
	Failures   Failures          // nil: failures are not reported
	Deliveries *delivery.Log     // lists messages that webhooks have not accepted; nil: no list

	Numbering callwright.Numbering // the default countries of organizations; nil: no defaults
	MaxOpen   int                  // requests of an organization that have not ended; 0: 1,000
	MaxHourly int                  // requests of an organization within an hour, each of which sends unsolicited mail; 0: 60
	PollEvery time.Duration        // interval of snapshots of an order, at least the minute between two searches; 0: 6 hours
	PollNear  time.Duration        // the same from a day before its confirmed date, and during a cancellation; 0: 15 minutes
	Zone      *time.Location       // time zone of the earliest date; nil: UTC

	callwright.Runtime
}

// The limits of requests.
const (
	MaxNumbers   = 100 // of a request, unless the gateway accepts fewer
	MaxPage      = 100 // requests in a page
	MaxHistory   = 500 // entries; near the limit only moves of the state are recorded
	LeastAhead   = 7   // days from today to the earliest target date
	MostAhead    = 365 // days from today to the latest target date
	SignFor      = 30 * systemDay
	ActFor       = 30 * systemDay // a request that is held up for this long is canceled
	AnswerWithin = 30 * systemDay // a request that its gateway has not confirmed for this long has failed
)

// The kinds of durable work, and its times.
const (
	taskStep   = "porting.step"
	taskMail   = "porting.mail"
	taskNotify = "porting.notify"
	taskFailed = "porting.failed"
	taskLook   = "porting.look"

	taskReleased = "porting.released"

	lookEvery   = time.Minute
	lookBatch   = 1000             // requests that one run schedules
	patience    = 10 * time.Second // time limit of a gateway's answer; a step can wait for three
	longestWait = 10 * time.Minute // between two checks of a ported number without a trunk
	longestRest = time.Hour        // between two attempts to reach a gateway
	alarmAfter  = 8                // failed attempts
)

// Service manages port requests and advances them.
type Service struct{ cfg Config }

// New checks the configuration and registers durable work with c.Work.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.MaxOpen <= 0 {
		c.MaxOpen = 1000
	}
	if c.MaxHourly <= 0 {
		c.MaxHourly = 60
	}
	if c.PollEvery <= 0 {
		c.PollEvery = 6 * time.Hour
	}
	if c.PollNear <= 0 {
		c.PollNear = 15 * time.Minute
	}
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	s := &Service{cfg: c}
	c.Work.Handle(callwright.QueuePorting, taskStep, s.step)
	callwright.TaskKind[mailArgs](taskMail).Handle(c.Work, callwright.QueueMail, c.Logger, s.mail)
	callwright.TaskKind[noticeArgs](taskNotify).Handle(c.Work, callwright.QueueWebhooks, c.Logger, s.notify)
	c.Work.Handle(callwright.QueueUpkeep, taskFailed, s.failed)
	callwright.TaskKind[releasedArgs](taskReleased).Handle(c.Work, callwright.QueueUpkeep, c.Logger, s.logRelease)
	c.Work.Every(callwright.QueuePorting, taskLook, lookEvery, s.pollOrders)
	return s, nil
}

// gateway returns a gateway by its name; nil: it is not configured.
func (s *Service) gateway(name string) Gateway {
	for _, g := range slices.Concat([]Gateway{s.cfg.Gateway}, s.cfg.Former) {
		if g.Capabilities().Name == name {
			return g
		}
	}
	return nil
}

// change reads a request in a transaction, calls change and stores the result with the entries that it returns, and retries after a
// conflict. If change returns errUnchanged, the request is returned unchanged.
func (s *Service) change(
	ctx context.Context, org callwright.OrgID, id string, change func(ctx context.Context, r *Request) ([]Entry, error),
) (r Request, err error) {
	err = callwright.Retry(ctx, func(ctx context.Context) error {
		return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			if r, err = s.cfg.Store.Request(ctx, org, id); err != nil {
				return err
			}
			entries, err := change(ctx, &r)
			if errors.Is(err, errUnchanged) {
				return nil
			}
			if err != nil {
				return err
			}
			return s.store(ctx, &r, entries)
		})
	})
	if err != nil {
		return Request{}, err
	}
	return r, nil
}

var errUnchanged = errors.New("nothing changes")

// store stores a request, new entries of its history and the work that they cause, in a transaction.
func (s *Service) store(ctx context.Context, r *Request, entries []Entry) error {
	if len(entries) > 0 {
		r.UpdatedAt = s.cfg.Clock.Now()
	}
	err := s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.cfg.Store.UpdateRequest(ctx, *r, entries...); err != nil {
			return err
		}
		return s.enqueueNotices(ctx, *r, entries)
	})
	if err == nil {
		r.Revision++
	}
	return err
}

// wake enqueues a step of a request, in the transaction of the change that needs it.
func (s *Service) wake(ctx context.Context, r Request) error {
	return s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskStep, Key: r.ID, Org: r.Org, Unique: true})
}
