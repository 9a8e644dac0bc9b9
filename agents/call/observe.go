package call

import (
	"context"
	"time"

	"github.com/callwright/callwright/agents/conversation"
)

// Observed names the event of an Observation.
type Observed string

// The events of observations.
const (
	ObservedStarted    Observed = "started"     // the node has claimed the call, and dials it or lets it ring
	ObservedRinging    Observed = "ringing"     // the call rings at the callee's number
	ObservedAnswered   Observed = "answered"    // both sides are connected
	ObservedAnsweredBy Observed = "answered_by" // Call.AnsweredBy is decided
	ObservedPartial    Observed = "partial"     // Partial is the recognized part of what the other side is saying; a later line replaces it
	ObservedLine       Observed = "line"        // Line is a new line of the transcript
	ObservedTransfer   Observed = "transfer"    // a transfer to To was tried; it succeeded if Call.TransferredTo is To
	ObservedEnded      Observed = "ended"       // the record is final, except for the analysis and the delivery
)

// Observation is an event of a call that runs on this node, or that this node has ended.
//
// One goroutine of Service.Run delivers observations one by one, in the order of events within a call. A slow Config.Observe delays later
// observations, but never a call. Up to 1000 observations are queued. Further observations are lost; the next delivered observation counts
// them in Missed. The call's record in the store is complete even if observations are lost. When Run ends, it delivers queued observations
// for up to 5 seconds. Without Run nothing is delivered.
//
// Partial texts are not queued with the other observations: they are delivered only while no other observation waits, at most five a second
// for each call, and a newer text of a call replaces an undelivered one. The text of a call is not delivered after the line that contains
// its words.
type Observation struct {
	What    Observed
	At      time.Time
	Call    Call                 // the record at that time, which shares memory with the call: do not change it
	Line    Entry                // set for ObservedLine
	Partial conversation.Partial // set for ObservedPartial; an empty Text means that the former text was not said
	To      string               // set for ObservedTransfer: a number or a SIP URI
	Summary Summary              // set for ObservedEnded if this process has led the conversation
	Missed  int                  // observations of all calls that were lost before this one, except partial texts
}

// maxObservations bounds the queue of observations.
const maxObservations = 1000

// observations queues observations for Config.Observe.
type observations struct {
	observe  func(Observation)
	waiting  chan Observation
	lost     chan int // contains the number of lost observations
	partials *partials
}

func newObservations(observe func(Observation)) *observations {
	o := &observations{
		observe: observe, waiting: make(chan Observation, maxObservations), lost: make(chan int, 1), partials: newPartials(observe != nil),
	}
	o.lost <- 0
	return o
}

// add queues an observation, or counts it as lost if the queue is full.
func (o *observations) add(what Observation) {
	if o.observe == nil {
		return
	}
	missed := <-o.lost
	defer func() { o.lost <- missed }()
	what.Missed = missed
	select {
	case o.waiting <- what:
		missed = 0
	default:
		missed++
	}
}

// run delivers observations until ctx ends, and then the queued observations, for at most drainPatience.
func (o *observations) run(ctx context.Context) {
	if o.observe == nil {
		return
	}
	giving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.give(giving, ctx.Done())
	}()
	<-ctx.Done()
	timer := time.NewTimer(drainPatience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// drainPatience bounds how long run delivers queued observations after its context has ended.
const drainPatience = 5 * time.Second

// give delivers observations until the channel over is closed and no observation waits, or until ctx has ended.
func (o *observations) give(ctx context.Context, over <-chan struct{}) {
	for ctx.Err() == nil {
		select {
		case what := <-o.waiting:
			o.observe(what)
			continue
		default:
		}
		partial, wait, ok := o.partials.next(time.Now())
		if ok {
			o.observe(partial)
			continue
		}
		var due <-chan time.Time // never, unless a partial text waits
		if wait > 0 {
			due = time.After(wait)
		}
		select {
		case what := <-o.waiting:
			o.observe(what)
		case <-o.partials.wake:
		case <-due:
		case <-over:
			return
		}
	}
}
