package call

import (
	"context"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

// Request asks for a call. Field names in errors are those of the /v1 contract.
type Request struct {
	From        string // E.164; empty: the organization's only outbound number
	To          string // E.164
	Agent       Agent
	RequestData map[string]any
	Metadata    map[string]any
}

// MaxTask bounds an agent's task, in bytes.
const MaxTask = 100_000

// Create accepts a call and queues it. It is refused at once for what can be known at once: a number that is not E.164
// or not attached, an agent without a task, an address for the webhook to which nothing may be sent, and a machine
// without the engines that a call needs.
func (s *Service) Create(ctx context.Context, org callwright.OrgID, r Request) (Call, error) {
	to, err := callwright.ParsePhoneNumber(r.To)
	if err != nil {
		return Call{}, callwright.InField("phone_number", err)
	}
	if err := s.checkAgent(&r.Agent); err != nil {
		return Call{}, err
	}
	from, err := s.callerNumber(ctx, org, r.From)
	if err != nil {
		return Call{}, err
	}
	if err := s.Ready(); err != nil {
		return Call{}, err
	}
	c := Call{
		ID: s.IDs.New(), Org: org, From: from.String(), To: to.String(), Agent: r.Agent,
		RequestData: r.RequestData, Metadata: r.Metadata, Queue: QueueQueued, CreatedAt: s.Clock.Now(), Version: 1,
	}
	return c, s.Atomic.Do(ctx, func(ctx context.Context) error {
		if err := s.Store.Insert(ctx, c); err != nil {
			return err
		}
		return s.Work.Enqueue(ctx, callwright.Task{Kind: taskPlace, Key: c.ID, Org: org, Unique: true})
	})
}

// checkEngines refuses a voice or a language that the engines are known not to have: better now than when somebody has
// picked up.
func (s *Service) checkEngines(a *Agent) error {
	if v, ok := s.Synthesizer.(conversation.VoiceChecker); ok {
		if err := v.CheckVoice(a.Voice, a.Language); err != nil {
			return err
		}
	}
	if l, ok := s.Recognizer.(conversation.LanguageChecker); ok {
		return l.CheckLanguage(a.Language)
	}
	return nil
}

// callerNumber is the number that the call goes out with.
func (s *Service) callerNumber(
	ctx context.Context, org callwright.OrgID, given string,
) (callwright.PhoneNumber, error) {
	if given == "" {
		return s.Routes.Caller(ctx, org, "")
	}
	from, err := callwright.ParsePhoneNumber(given)
	if err != nil {
		return "", callwright.InField("from", err)
	}
	return s.Routes.Caller(ctx, org, from)
}

// checkAgent fills in defaults and refuses what no call could do.
func (s *Service) checkAgent(a *Agent) error {
	if strings.TrimSpace(a.Task) == "" {
		return callwright.Invalid("task", "is required: it says what the agent is there for")
	}
	return s.CheckAgent(a)
}

// CheckAgent fills in an agent's defaults and refuses what no call could do. An agent that answers calls may be without
// a task.
func (s *Service) CheckAgent(a *Agent) error {
	switch {
	case len(a.Task) > MaxTask:
		return callwright.Invalid("task", "has more than %d bytes", MaxTask)
	case len(a.FirstSentence) > conversation.MaxSpeech:
		return callwright.Invalid("first_sentence", "has more than %d bytes", conversation.MaxSpeech)
	case a.MaxDuration < 0 || a.MaxDuration > LongestCall:
		return callwright.Invalid("max_duration", "must be more than 0 and at most %d minutes", int(LongestCall/time.Minute))
	case a.Temperature != nil && (*a.Temperature < 0 || *a.Temperature > 1):
		return callwright.Invalid("temperature", "must be from 0 to 1")
	}
	if err := s.checkEngines(a); err != nil {
		return err
	}
	if a.MaxDuration == 0 {
		a.MaxDuration = DefaultMaxDuration
	}
	if a.TransferTo != "" {
		to, err := callwright.ParsePhoneNumber(a.TransferTo.String())
		if err != nil {
			return callwright.InField("transfer_phone_number", err)
		}
		a.TransferTo = to
	}
	if a.Webhook != "" {
		if err := s.Notifier.CheckURL(a.Webhook); err != nil {
			return callwright.InField("webhook", err)
		}
	}
	return nil
}
