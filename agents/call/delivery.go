package call

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
)

// Delivery tells whether the webhook of a call has its record, and what the attempts came to.
type Delivery struct {
	State       DeliveryState
	Attempts    int        // so far
	LastAttempt *time.Time // nil: there was none
	LastFailure string     // the reason of the last failed attempt, for people, without the address; empty: none has failed
}

// DeliveryState is a state of a Delivery.
type DeliveryState = delivery.State

// The states. A call without a webhook, one that has not ended, and one that ended before deliveries were recorded has none.
const (
	DeliveryPending   = delivery.Pending
	DeliveryDelivered = delivery.Delivered
	DeliveryGivenUp   = delivery.GivenUp
)

// maxDeliveryFailure bounds Delivery.LastFailure, in bytes.
const maxDeliveryFailure = 500

// notify sends the record of a call that has ended to its webhook: the task call.webhook. The record itself says how far
// that has got, so that no restart begins the schedule anew.
func (s *Service) notify(ctx context.Context, task callwright.Task, _ int) error {
	c, transcript, err := s.Get(ctx, task.Org, task.Key)
	if err != nil {
		return err
	}
	if !c.Queue.Ended() || c.Agent.Webhook == "" || c.Delivery.State == DeliveryDelivered || c.Delivery.State == DeliveryGivenUp {
		return nil
	}
	logs, err := s.cfg.Store.Logs(ctx, task.Org, task.Key)
	if err != nil {
		return err
	}
	at := s.cfg.Clock.Now()
	failure, putOff := s.cfg.Deliveries.Send(ctx, messageOf(c), *c.EndedAt, func(ctx context.Context) error {
		return s.cfg.Notifier.Notify(ctx, c.Org, c.Agent.Webhook, c, transcript, logs)
	})
	if putOff != nil {
		return putOff
	}
	if failure != nil && ctx.Err() != nil {
		return failure // this process broke it off
	}
	var wait time.Duration
	err = callwright.Retry(ctx, func(ctx context.Context) (err error) {
		wait = s.attempted(&c, failure, at)
		if err = s.noteDelivery(ctx, c, failure, at, wait); errors.Is(err, callwright.ErrConflict) {
			if c, err = s.cfg.Store.Get(ctx, c.Org, c.ID); err == nil {
				err = callwright.ErrConflict
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.delivered(ctx, c, failure, wait)
}

// messageOf returns what the list of deliveries knows of the record of a call.
func messageOf(c Call) delivery.Message {
	return delivery.Message{Org: c.Org, Kind: delivery.MessageCall, ID: c.ID, Subject: c.ID, URL: c.Agent.Webhook}
}

// noteDelivery stores a call after an attempt at the delivery of its record, and notes the attempt in the list of deliveries.
func (s *Service) noteDelivery(ctx context.Context, c Call, failure error, at time.Time, wait time.Duration) error {
	var next time.Time
	if c.Delivery.State == DeliveryPending {
		next = at.Add(wait)
	}
	return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.cfg.Store.Update(ctx, c); err != nil {
			return err
		}
		return s.cfg.Deliveries.Attempted(ctx, messageOf(c), failure, at, next)
	})
}

// attempted notes an attempt at the delivery of a record. It returns how long to wait for the next one.
func (s *Service) attempted(c *Call, failure error, at time.Time) (wait time.Duration) {
	d := &c.Delivery
	d.Attempts++
	d.State, d.LastAttempt = DeliveryDelivered, &at
	if failure == nil {
		return 0
	}
	d.State, d.LastFailure = DeliveryGivenUp, callwright.Clip(writable(callwright.MessageOf(failure)), maxDeliveryFailure)
	wait, again := delivery.Redeliver(failure, d.Attempts)
	if again {
		d.State = DeliveryPending
	}
	return wait
}

// delivered logs an attempt that failed, and returns the error that has the task run again when the next one is due.
func (s *Service) delivered(ctx context.Context, c Call, failure error, wait time.Duration) error {
	attributes := []any{
		"call_id", c.ID, "org", c.Org, "to", delivery.HostOf(c.Agent.Webhook), "attempts", c.Delivery.Attempts, "error", failure,
	}
	switch c.Delivery.State {
	case DeliveryPending:
		s.cfg.Logger.WarnContext(ctx, "the record of a call was not delivered to its webhook", append(attributes, "again_in", wait)...)
		return &callwright.Error{Code: callwright.CodeUnavailable, Message: c.Delivery.LastFailure, RetryAfter: wait}
	case DeliveryGivenUp:
		s.cfg.Logger.ErrorContext(ctx, "a webhook is given up: it does not have the record of a call", attributes...)
	case DeliveryDelivered:
	}
	return nil
}
