package call

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

// Agents says which agent has a call; agents.Service has it.
type Agents interface {
	// Answering returns the agent of a number, with defaults for one that nobody has configured.
	Answering(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (agents.Agent, error)
	// Calling returns the agent that makes a call, with its defaults. It refuses one that could have no call; the error
	// names the field as the /v1 contract does.
	Calling(ctx context.Context, org callwright.OrgID, c agents.Choice) (agents.Agent, error)
}

// Recordings keeps the recordings of calls.
type Recordings interface {
	// Create begins the recording of a call, in place of one that a crash has cut off.
	Create(ctx context.Context, org callwright.OrgID, id string) (RecordingFile, error)
	// Open reads a recording; CodeNotFound when there is none.
	Open(ctx context.Context, org callwright.OrgID, id string) (io.ReadSeekCloser, error)
}

// RecordingFile is a recording that is being written.
type RecordingFile interface {
	io.WriteSeeker
	io.Closer
}

// Notifier tells the owner of a call about it.
type Notifier interface {
	// Notify sends the record of a call that has ended to url, signed for the organization. An error means that it
	// should be tried again; a receiver that refuses it for good is no error.
	Notify(
		ctx context.Context, org callwright.OrgID, url string, c Call, transcript []Entry, logs []pathway.Log,
	) error
	// NotifyEvent sends something that has happened on a call, which may still be under way, in the same way.
	NotifyEvent(ctx context.Context, org callwright.OrgID, url string, c Call, n Notice) error
}

// Config is what a Service needs. Everything is required but what says otherwise.
type Config struct {
	Store      Store
	Atomic     callwright.Atomic
	Work       callwright.Work
	Line       Line
	Routes     Routes
	Agents     Agents
	Model      llm.Model
	Recordings Recordings
	Notifier   Notifier

	Recognizer  conversation.Recognizer
	Synthesizer conversation.Synthesizer

	Pathways  agents.Pathways         // nil: what needs a pathway is CodeUnavailable
	Requests  request.Client          // nil: what needs another system is CodeUnavailable
	Knowledge pathway.Knowledge       // nil: there are no knowledge bases
	Screener  func(rate int) Screener // nil: nobody listens for answering machines
	Failures  Failures                // nil: nobody is told of calls that have failed

	Ready    func() error     // refuses calls while it gives an error, such as a speech engine that is missing; nil: never
	Node     string           // this process's name among all nodes; fresh at every start
	MaxCalls int              // live calls on this node; 0: no bound but the line's
	Clock    callwright.Clock // nil: the machine's
	IDs      callwright.IDs   // nil: UUIDs
	Logger   *slog.Logger     // nil: discards
}

// Service makes and takes calls.
type Service struct {
	Config
	live  live
	pulse pulse
}

// How the nodes watch each other: a node that has not been heard of for deadAfter is dead, and its calls are closed.
const (
	beatEvery = 2 * time.Second
	deadAfter = 15 * time.Second
)

// storePatience is how long the store may take for one thing that a live call or its node needs of it.
const storePatience = 5 * time.Second

// The kinds of durable work.
const (
	taskPlace   = "call.place"
	taskAnalyze = "call.analyze"
	taskWebhook = "call.webhook"
	taskFailed  = "call.failed"
	taskSweep   = "call.sweep"

	taskNotice callwright.TaskKind[noticeArgs] = "call.notice"
)

// New checks the configuration and registers the service's durable work. Run starts it.
func New(c Config) (*Service, error) {
	if c.Store == nil || c.Atomic == nil || c.Work == nil || c.Line == nil || c.Routes == nil || c.Agents == nil {
		return nil, errors.New("call: Store, Atomic, Work, Line, Routes and Agents are required")
	}
	if c.Model == nil || c.Recordings == nil || c.Notifier == nil || c.Recognizer == nil || c.Synthesizer == nil {
		return nil, errors.New("call: Model, Recordings, Notifier, Recognizer and Synthesizer are required")
	}
	if c.Node == "" {
		return nil, errors.New("call: Node is required")
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.IDs == nil {
		c.IDs = new(callwright.UUIDs)
	}
	if c.Ready == nil {
		c.Ready = func() error { return nil }
	}
	if c.Requests == nil {
		c.Requests = noRequests{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, live: newLive(c.MaxCalls)}
	c.Work.Handle(taskPlace, s.place)
	taskNotice.Handle(c.Work, c.Logger, s.sendNotice)
	c.Work.Handle(taskAnalyze, s.analyze)
	c.Work.Handle(taskWebhook, s.notify)
	c.Work.Handle(taskFailed, s.failed)
	c.Work.Every(taskSweep, deadAfter/3, s.sweep)
	return s, nil
}

// Run takes incoming calls and keeps the calls of this node alive in the store, until ctx ends; it then lets no new
// call begin, refuses those that come, and gives those that run the grace to end before it ends them itself.
func (s *Service) Run(ctx context.Context, grace time.Duration) {
	s.live.open()
	var loops sync.WaitGroup
	looping, stopLoops := context.WithCancel(context.WithoutCancel(ctx))
	loops.Go(func() { s.acceptLoop(looping) })
	loops.Go(func() { s.beatLoop(looping) })
	<-ctx.Done()

	s.live.shut()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-s.live.idle:
	case <-timer.C:
		s.Logger.WarnContext(ctx, "ending the calls that are still running", "calls", s.live.count())
		s.live.endAll(errDraining)
		<-s.live.idle
	}
	stopLoops()
	loops.Wait()
}

// Live is how many calls run on this node.
func (s *Service) Live() int { return s.live.count() }
