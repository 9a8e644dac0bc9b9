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
	Work       callwright.Work   `required:"always"` // executes the steps of requests
	Gateway    Gateway           `required:"always"` // receives new requests
	Former     []Gateway         // gateways that are no longer used for new requests, but still have open ones
	Documents  Documents         `required:"always"`
	Letters    Letters           `required:"always"`
	Inbound    InboundNumbers    `required:"always"`
	Trunks     Trunks            // if nil, ported numbers need no trunk to receive calls, and trunks of other organizations are not detected
	CallsFrom  []netip.Prefix    // addresses that may call ported numbers, unless the request names others; empty if unknown
	Mailer     callwright.Mailer // if nil, no mail is sent
	Notifier   Notifier          // if nil, requests cannot have a webhook
	URLs       callwright.URLs   `required:"with Notifier"` // checks webhook URLs
	Failures   Failures          // if nil, failures are not reported
	Deliveries *delivery.Log     // if set, records messages that webhooks have not accepted

	Numbering callwright.Numbering // default countries of organizations; may be nil
	MaxOpen   int                  // maximum number of open requests per organization; 0 means 1,000
	MaxHourly int                  // maximum number of requests per organization and hour, each of which sends unsolicited mail; 0 means 60
	PollEvery time.Duration        // interval between snapshots of an order, in effect at least a minute (lookEvery); 0 means 6 hours
	PollNear  time.Duration        // the same on the last day before the confirmed date, and during a cancellation; 0 means 15 minutes
	Zone      *time.Location       // time zone in which target dates are counted; nil means UTC

	callwright.Runtime
}

// Limits of requests, their histories and their deadlines.
const (
	MaxNumbers   = 100 // numbers per request, unless the gateway accepts fewer
	MaxPage      = 100 // requests per page
	MaxHistory   = 500 // entries per request; near the limit, most Changed entries are omitted
	LeastAhead   = 7   // days from today to the earliest target date
	MostAhead    = 365 // days from today to the latest target date
	SignFor      = 30 * systemDay
	ActFor       = 30 * systemDay // a request that is held up for this long is canceled, if possible
	AnswerWithin = 30 * systemDay // a request fails if its gateway has not accepted the order this long after the signature
)

// The kinds of durable work, with their intervals and limits.
const (
	taskStep   = "porting.step"
	taskMail   = "porting.mail"
	taskNotify = "porting.notify"
	taskFailed = "porting.failed"
	taskLook   = "porting.look"

	taskReleased = "porting.released"

	lookEvery   = time.Minute
	lookBatch   = 1000             // requests that one run of pollOrders schedules
	patience    = 10 * time.Second // timeout of a gateway call; a step makes up to three calls
	longestWait = 10 * time.Minute // maximum time between two checks of a ported number without a trunk
	longestRest = time.Hour        // maximum time between two attempts to reach a gateway
	alarmAfter  = 8                // failed attempts before they are logged as errors
)

// Service manages port requests. Its durable work submits them to gateways and follows the carriers' orders.
type Service struct{ cfg Config }

// New returns a service, and registers its durable work with c.Work. It returns an error if the configuration is incomplete or invalid.
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

// gateway returns the gateway with the given name, or nil if it is not configured.
func (s *Service) gateway(name string) Gateway {
	for _, g := range slices.Concat([]Gateway{s.cfg.Gateway}, s.cfg.Former) {
		if g.Capabilities().Name == name {
			return g
		}
	}
	return nil
}

// change reads a request in a transaction, calls the given function, and stores the modified request with the entries that the function
// returns. It retries after a conflict. If the function returns errUnchanged, change stores nothing and returns the request.
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

// store updates a request in a transaction, appends entries to its history, and enqueues the notices about them. It increments r.Revision.
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

// wake enqueues an immediate step of a request. The caller must call it in the transaction of the change that requires the step.
func (s *Service) wake(ctx context.Context, r Request) error {
	return s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskStep, Key: r.ID, Org: r.Org, Unique: true})
}
