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

// Recordings keeps the recordings of calls. Ids of organizations and calls have 1 to MaxRecordingID letters of ASCII, digits,
// "-" and "_"; other ids may be refused. Another organization's recording is absent. Several calls are recorded, and
// recordings read, at the same time.
type Recordings interface {
	// Create begins the recording of a call, in place of one that a crash has cut off. What is written can be read at once,
	// also while the file is open, and survives the end of the process.
	Create(ctx context.Context, org callwright.OrgID, id string) (RecordingFile, error)
	// Open reads a recording as it is at that moment or later; CodeNotFound when there is none.
	Open(ctx context.Context, org callwright.OrgID, id string) (io.ReadSeekCloser, error)
}

// MaxRecordingID is the length of the longest id that Recordings must take.
const MaxRecordingID = 128

// RecordingFile is a recording that is being written.
type RecordingFile interface {
	io.WriteSeeker
	io.Closer
}

// Notifier tells the owner of a call about it. A message has an id, the same whenever it is sent again, and a signature
// that holds for its organization alone. An address to which nothing may be sent is a receiver that refuses for good.
// Ending ctx ends the sending.
type Notifier interface {
	// Notify sends the record of a call that has ended to url, signed for the organization. An error means that it
	// should be tried again, not before its RetryAfter if it has one; a receiver that refuses it for good is no error.
	Notify(
		ctx context.Context, org callwright.OrgID, url string, c Call, transcript []Entry, logs []pathway.Log,
	) error
	// NotifyEvent sends something that has happened on a call, which may still be under way, in the same way.
	NotifyEvent(ctx context.Context, org callwright.OrgID, url string, c Call, n Notice) error
}

// Config is what a Service needs.
type Config struct {
	Store       Store                    // required
	Leases      callwright.Leases        // required; on the database of all nodes
	Atomic      callwright.Atomic        // required
	Work        callwright.Work          // required
	Line        Line                     // required
	Recognizer  conversation.Recognizer  // required
	Synthesizer conversation.Synthesizer // required
	Agents      Agents                   // required without NewBrain; nil: calls in have an agent without settings, to place one is CodeUnavailable
	Model       llm.Model                // required without NewBrain

	// NewBrain makes the brain of an answered call, when everything is known about it that is known before the
	// conversation. A nil Brain without an error leaves the call to its agent's pathway or task. An error ends the call
	// with CauseInternal. nil: every call is left to its agent.
	NewBrain func(ctx context.Context, c Call) (conversation.Brain, error)
	// Observe hears of what happens on this node's calls: see Observation. nil: nobody does.
	Observe func(o Observation)

	Routes     Routes             // nil: to place a call is CodeUnavailable
	Recordings Recordings         // nil: to record a call is CodeUnavailable, and one that comes in is not recorded
	Notifier   Notifier           // nil: a call with a webhook is CodeUnavailable, and webhooks of those that come in hear nothing
	Pathways   agents.Pathways    // nil: what needs a pathway is CodeUnavailable
	Requests   request.Client     // nil: what needs another system is CodeUnavailable
	Knowledge  pathway.Knowledge  // nil: there are no knowledge bases
	AMD        func(rate int) AMD // tells answering machines from people at a sample rate; nil: nobody does
	Failures   Failures           // nil: nobody is told of calls that have failed

	Ready        func() error     // refuses calls while it gives an error, such as a speech engine that is missing; nil: never
	Node         string           // this process's name among all nodes, fresh at every start; empty: one of IDs
	MaxCalls     int              // live calls on this node; 0: no bound but the line's
	DrainTimeout time.Duration    // how long calls may go on when Run is to end; 0: they are ended at once
	Clock        callwright.Clock // nil: the machine's
	IDs          callwright.IDs   // nil: UUIDs
	Logger       *slog.Logger     // nil: discards
}

// missing returns the name of the first required field that is not set; empty when there is none.
func (c Config) missing() string {
	switch {
	case c.Store == nil:
		return "Store"
	case c.Leases == nil:
		return "Leases"
	case c.Atomic == nil:
		return "Atomic"
	case c.Work == nil:
		return "Work"
	case c.Line == nil:
		return "Line"
	case c.Recognizer == nil:
		return "Recognizer"
	case c.Synthesizer == nil:
		return "Synthesizer"
	case c.Agents == nil && c.NewBrain == nil:
		return "Agents"
	case c.Model == nil && c.NewBrain == nil:
		return "Model"
	}
	return ""
}

// setDefaults fills in what is optional.
func (c *Config) setDefaults() {
	if c.Agents == nil {
		c.Agents = noAgents{}
	}
	if c.Model == nil {
		c.Model = noModel{}
	}
	if c.Routes == nil {
		c.Routes = noRoutes{}
	}
	if c.Recordings == nil {
		c.Recordings = noRecordings{}
	}
	if c.Notifier == nil {
		c.Notifier = noNotifier{}
	}
	if c.Requests == nil {
		c.Requests = noRequests{}
	}
	if c.Ready == nil {
		c.Ready = func() error { return nil }
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.IDs == nil {
		c.IDs = new(callwright.UUIDs)
	}
	if c.Node == "" {
		c.Node = c.IDs.New()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// Service makes and takes calls.
type Service struct {
	cfg       Config
	live      live
	heartbeat *callwright.Heartbeat
	observed  *observations
}

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
	if name := c.missing(); name != "" {
		return nil, errors.New("call: Config." + name + " is required")
	}
	c.setDefaults()
	s := &Service{cfg: c, live: newLive(c.MaxCalls), observed: newObservations(c.Observe)}
	var err error
	if s.heartbeat, err = s.newHeartbeat(); err != nil {
		return nil, err
	}
	c.Work.Handle(taskPlace, s.place)
	taskNotice.Handle(c.Work, c.Logger, s.sendNotice)
	c.Work.Handle(taskAnalyze, s.analyze)
	c.Work.Handle(taskWebhook, s.notify)
	c.Work.Handle(taskFailed, s.failed)
	c.Work.Every(taskSweep, callwright.LeaseRenewal, s.sweep)
	return s, nil
}

// Run takes incoming calls and keeps the calls of this node alive in the store until ctx ends. It then lets no new call
// begin, refuses those that come, and gives those that run Config.DrainTimeout to end before it ends them itself. It must
// not be called twice. The error is always nil.
func (s *Service) Run(ctx context.Context) error {
	s.live.open()
	var loops sync.WaitGroup
	looping, stopLoops := context.WithCancel(context.WithoutCancel(ctx))
	s.heartbeat.Beat(looping) // no call begins before others know that this node lives
	loops.Go(func() { s.acceptLoop(looping) })
	loops.Go(func() { _ = s.heartbeat.Run(looping) })
	loops.Go(func() { s.stopLoop(looping) })
	loops.Go(func() { s.observed.run(looping) })
	<-ctx.Done()

	s.live.shut()
	timer := time.NewTimer(s.cfg.DrainTimeout)
	defer timer.Stop()
	select {
	case <-s.live.idle:
	case <-timer.C:
		s.cfg.Logger.WarnContext(ctx, "ending the calls that are still running", "calls", s.live.count())
		s.live.endAll(errDraining)
		<-s.live.idle
	}
	stopLoops()
	loops.Wait()
	return nil
}

// Live returns how many calls run on this node.
func (s *Service) Live() int { return s.live.count() }
