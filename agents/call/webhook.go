package call

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/delivery"
)

// eventCategories lists the categories that a Plan may contain.
var eventCategories = []EventCategory{
	EventsQueue, EventsCall, EventsLatency, EventsWebhook, EventsTool, EventsDynamicData,
}

// firstNotice and lastNotice are the numbers of the notices "queued" and "ended", which no record writer numbers. A sweep that closes a
// call does not know the numbers of the call's earlier notices.
const (
	firstNotice = 1
	lastNotice  = math.MaxInt32
)

// wants reports whether the webhook of the call receives a category of events.
func (c Call) wants(category EventCategory) bool {
	return c.Agent.Webhook != "" && slices.Contains(c.Plan.Events, category)
}

// announce stores a notice, if the webhook receives its category, and enqueues the task that sends it, in one transaction.
func (s *Service) announce(ctx context.Context, c Call, n Notice) error {
	if !c.wants(n.Category) {
		return nil
	}
	return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.cfg.Store.AppendNotice(ctx, c.Org, c.ID, n); err != nil {
			return err
		}
		return taskNotice.Enqueue(ctx, s.cfg.Work, callwright.Task{
			Key: c.ID + "/" + strconv.Itoa(n.Seq), Org: c.Org, Unique: true,
		}, noticeArgs{Call: c.ID, Seq: n.Seq})
	})
}

// taskNotice is the task call.notice, which sends a notice to the webhook.
const taskNotice callwright.TaskKind[noticeArgs] = "call.notice"

// noticeArgs contains the arguments of the task call.notice.
type noticeArgs struct {
	Call string `json:"call"`
	Seq  int    `json:"seq"`
}

// UnmarshalKey reads the arguments from the key of a task that an older release has queued. Tasks of that release have no arguments.
func (a *noticeArgs) UnmarshalKey(key string) (err error) {
	id, seq, _ := strings.Cut(key, "/")
	a.Call = id
	a.Seq, err = strconv.Atoi(seq)
	return err
}

// sendNotice runs the task call.notice: it sends one notice to the webhook. Notices may arrive out of order.
func (s *Service) sendNotice(ctx context.Context, task callwright.Task, args noticeArgs, _ int) error {
	c, err := s.cfg.Store.Get(ctx, task.Org, args.Call)
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	n, err := s.cfg.Store.Notice(ctx, task.Org, args.Call, args.Seq)
	if err != nil {
		return err
	}
	m := delivery.Message{Org: c.Org, Kind: delivery.MessageCallEvent, ID: c.ID + "/" + strconv.Itoa(n.Seq), Subject: c.ID, URL: c.Agent.Webhook}
	failure, putOff := s.cfg.Deliveries.Send(ctx, m, n.CreatedAt, func(ctx context.Context) error {
		return s.cfg.Notifier.NotifyEvent(ctx, c.Org, c.Agent.Webhook, c, n)
	})
	if putOff != nil {
		return putOff
	}
	again := s.cfg.Deliveries.Redeliver(ctx, m, failure, n.CreatedAt, s.cfg.Clock.Now())
	if failure != nil && again == nil {
		s.cfg.Logger.WarnContext(ctx, "an event of a call is given up: its webhook does not take it",
			"call_id", c.ID, "number", n.Seq, "org", c.Org, "to", delivery.HostOf(c.Agent.Webhook), "error", failure)
	}
	return again
}

// latencyText describes the latency of an answer.
func latencyText(l conversation.Latency) string {
	return fmt.Sprintf("the answer was heard after %s: end of the turn %s, words %s, first sentence %s, first sound %s",
		millis(l.Playing), millis(l.EndOfTurn), millis(l.Recognized), millis(l.FirstStep), millis(l.FirstAudio))
}

// requestText describes the outcome of a request.
func requestText(l request.Log) string {
	text := strings.TrimSpace(fmt.Sprintf("%s: %s %s", l.Name, l.Method, l.URL))
	if l.Error != "" {
		return text + " failed after " + millis(l.Duration) + ": " + l.Error
	}
	return fmt.Sprintf("%s answered with %d after %s", text, l.Status, millis(l.Duration))
}

func millis(d time.Duration) string { return d.Round(time.Millisecond).String() }
