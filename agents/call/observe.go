package call

import (
	"context"
	"time"
)

// Observed is the kind of an observation.
type Observed string

// The observations.
const (
	ObservedStarted    Observed = "started"     // the node has claimed the call: it is dialed, or rings here
	ObservedRinging    Observed = "ringing"     // it rings at the number called
	ObservedAnswered   Observed = "answered"    // both sides are connected
	ObservedAnsweredBy Observed = "answered_by" // Call.AnsweredBy is decided
	ObservedLine       Observed = "line"        // Line is a new line of the transcript
	ObservedTransfer   Observed = "transfer"    // a transfer to To was tried; it has succeeded if Call.TransferredTo is To
	ObservedEnded      Observed = "ended"       // the record is final, except for the analysis
)

// Observation is an event of a call that runs on this node, or that this node has ended.
//
// One goroutine of Service.Run delivers observations one by one, and keeps the order within a call. A slow Config.Observe delays
// the observations that follow, never a call. Up to 1000 observations wait; further ones are lost, and the next one delivered
// counts them in Missed. Everything is in the store all the same. When Run ends, it delivers for up to 5 seconds what still waits.
// Without Run nothing is observed.
type Observation struct {
	What   Observed
	At     time.Time
	Call   Call   // the record at that time; shares memory with the call and must not be changed
	Line   Entry  // of ObservedLine
	To     string // of ObservedTransfer: a number or a SIP URI
	Missed int    // observations of all calls that were lost before this one
}

// maxObservations bounds the queue.
const maxObservations = 1000

// observations queues observations for Config.Observe.
type observations struct {
	observe       func(Observation)
	waiting       chan Observation
	droppedFrames chan int // holds the number of lost ones
}

func newObservations(observe func(Observation)) *observations {
	o := &observations{observe: observe, waiting: make(chan Observation, maxObservations), droppedFrames: make(chan int, 1)}
	o.droppedFrames <- 0
	return o
}

// add queues an observation, or counts it as lost.
func (o *observations) add(what Observation) {
	if o.observe == nil {
		return
	}
	missed := <-o.droppedFrames
	defer func() { o.droppedFrames <- missed }()
	what.Missed = missed
	select {
	case o.waiting <- what:
		missed = 0
	default:
		missed++
	}
}

// run delivers observations until ctx ends, and then the waiting ones, for at most drainPatience.
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

// drainPatience bounds the time in which Run delivers observations after its calls have ended.
const drainPatience = 5 * time.Second

// give delivers observations until over is closed and the queue is empty, or until ctx has ended.
func (o *observations) give(ctx context.Context, over <-chan struct{}) {
	for ctx.Err() == nil {
		select {
		case what := <-o.waiting:
			o.observe(what)
			continue
		default:
		}
		select {
		case what := <-o.waiting:
			o.observe(what)
		case <-over:
			return
		}
	}
}
