package call

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
)

// Delivery describes the progress of delivering a call's record to its webhook.
type Delivery struct {
	State       DeliveryState
	Attempts    int        // number of attempts so far
	LastAttempt *time.Time // nil before the first attempt
	LastFailure string     // human-readable reason of the last failed attempt, without the URL; empty if none has failed
}

// DeliveryState names the state of a Delivery.
type DeliveryState = delivery.State

// The states of a Delivery. The state is empty without a webhook, before the end of the call, and if the call ended before deliveries were
// recorded.
const (
	DeliveryPending   = delivery.Pending
	DeliveryDelivered = delivery.Delivered
	DeliveryGivenUp   = delivery.GivenUp
)

// maxDeliveryFailure bounds Delivery.LastFailure, in bytes.
const maxDeliveryFailure = 500

// notify runs the task call.webhook: it sends the record of an ended call to its webhook. The record contains the progress of the delivery,
// so that a restart does not restart the schedule.
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
		return failure // this process interrupted the attempt
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

// messageOf returns the entry for a call's record in the list of deliveries.
func messageOf(c Call) delivery.Message {
	return delivery.Message{Org: c.Org, Kind: delivery.MessageCall, ID: c.ID, Subject: c.ID, URL: c.Agent.Webhook}
}

// noteDelivery stores a call after an attempt to deliver its record, and adds the attempt to the list of deliveries, in one transaction.
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

// attempted records the outcome of an attempt in c.Delivery. It returns the wait before the next attempt, or 0 if none follows.
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

// delivered logs a failed attempt. While the delivery is pending, it returns an error whose RetryAfter makes the task run again at the next
// attempt.
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
