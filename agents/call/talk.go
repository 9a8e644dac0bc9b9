package call

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright/speech/tts"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
)

// hangupPatience bounds how long a hang-up waits for the other side's confirmation. A line gives up earlier (SIP: after 5 s), and then
// reports the end as unconfirmed.
const hangupPatience = 10 * time.Second

// runConversation stores the answer of a call, runs its conversation, hangs up, and stores its end. If the answer cannot be stored, there
// is no conversation.
func (s *Service) runConversation(
	ctx context.Context, c Call, leg Leg, by loadLeader, ears *conversation.EarlyStreamer, book *recordWriter,
) {
	defer s.hangup(ctx, leg)
	now := book.clock.Now()
	ended, forget := endOf(leg, book.clock)
	defer forget()
	c.Queue, _ = c.Queue.Move(EventAnswer)
	c.StartedAt, c.Carriage, c.AnsweredBy = &now, leg.Info(), AnsweredByUnknown
	c.ModelUsed, _ = llm.NameOf(s.cfg.Model, c.Agent.Model)
	if by.graph != nil {
		c.PathwayNumber = &by.number
	}
	if err := s.update(ctx, c); err != nil {
		s.cfg.Logger.ErrorContext(ctx, "cannot write the answer of a call", "call_id", c.ID, "error", err)
		c.Queue, c.StartedAt = QueueAllocated, nil // as stored, unless the store has executed the update despite the error
		s.hangup(ctx, leg)
		at := ended()
		book.close()
		s.finish(ctx, c, HangupReason{Cause: CauseInternal}, at)
		return
	}
	c.Version++
	book.changed(c)
	book.notice(EventsCall, EventInfo, "answered")
	s.observed.add(Observation{What: ObservedAnswered, At: now, Call: c})
	longest, cancel := context.WithTimeoutCause(ctx, c.Agent.MaxDuration, errMaxDuration)
	defer cancel()
	stop := followTransfers(leg, book)
	defer stop()
	outcome, err := s.converse(longest, &c, leg, by, ears, book)
	ending := s.end(longest, c, leg, outcome, err)
	at := ended()
	stop()
	book.close()
	c, uses := book.summarized(book.transferred(c))
	c.Models = s.used(uses)
	c.Variables, c.Stats = book.found(c.Variables), leg.Stats()
	s.finish(ctx, c, ending, at)
}

// endOf records the time at which a leg ends. ended returns that time, or the current time if the leg has not ended. forget stops the
// goroutine that waits for the end.
func endOf(leg Leg, clock callwright.Clock) (ended func() time.Time, forget func()) {
	at, over := make(chan time.Time, 1), make(chan struct{})
	go func() {
		select {
		case <-leg.Done():
			at <- clock.Now()
		case <-over:
		}
	}()
	ended = func() time.Time {
		select {
		case <-leg.Done():
			return <-at
		default:
			return clock.Now()
		}
	}
	return ended, func() { close(over) }
}

// update stores a record within storePatience, even if ctx has ended.
func (s *Service) update(ctx context.Context, c Call) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storePatience)
	defer cancel()
	return s.cfg.Store.Update(ctx, c)
}

// maxFailedTransfers is the number of failed transfers after which a call is not transferred again.
const maxFailedTransfers = 3

// errTransfers ends a call whose agent requests another transfer after maxFailedTransfers.
var errTransfers = callwright.Errorf(callwright.CodeUnavailable,
	"%d transfers of the call have failed, and the agent has requested another one", maxFailedTransfers)

// converse runs the conversation, with a recording if the agent has Record. After each of the first maxFailedTransfers failed transfers, the
// conversation continues. If a machine answers, converse carries out the call's plan for it.
func (s *Service) converse(
	ctx context.Context, c *Call, leg Leg, by loadLeader, ears *conversation.EarlyStreamer, book *recordWriter,
) (outcome conversation.Outcome, err error) {
	brain, err := s.brain(ctx, *c, by, book)
	if err != nil {
		return conversation.Outcome{By: conversation.ByFailure}, err
	}
	background := playBackground(leg, c.Agent.Background)
	defer background.wait.Wait()
	audio, stop := s.audio(ctx, c, leg, background)
	defer stop()
	config := s.conversationConfig(c.Org, c.Agent, ears, book)
	screen := s.detectMachine(c, audio, book)
	if screen != nil {
		audio, config.Observer = screen, wordObserver{book, screen}
	}
	failed := 0 // transfers
	for {
		talk, err := conversation.New(config)
		if err != nil {
			return conversation.Outcome{By: conversation.ByFailure}, err
		}
		outcome, machine, err := s.talk(ctx, c, talk, audio, screen, brain)
		if machine {
			m := &machineTalk{service: s, call: c, audio: screen, config: config}
			resume, outcome, err := m.react(ctx)
			if !resume {
				return outcome, err
			}
			heard, _ := screen.turns()
			brain = &resumed{brain, heard}
			config.WaitForGreeting, config.Meanwhile = false, conversation.Meanwhile{}
			continue
		}
		if outcome.TransferTo == "" {
			return outcome, err
		}
		if failed == maxFailedTransfers {
			return conversation.Outcome{By: conversation.ByFailure}, errTransfers
		}
		listen := func(ctx context.Context, over <-chan struct{}) conversation.Meanwhile {
			return talk.Listen(ctx, audio, over, outcome.Meanwhile)
		}
		meanwhile, gone := s.transfer(ctx, c, leg, outcome.TransferTo, book, listen)
		if gone {
			return outcome, err
		}
		failed++
		config.WaitForGreeting, config.Meanwhile = false, meanwhile
	}
}

// talk runs a conversation. machine reports that it has ended because a machine answered to which the plan reacts. screen may be nil.
func (s *Service) talk(
	ctx context.Context, c *Call, talk *conversation.Conversation, audio conversation.Audio, screen *amdAudio, brain conversation.Brain,
) (outcome conversation.Outcome, machine bool, err error) {
	if screen == nil {
		outcome, err = talk.Run(ctx, audio, brain)
		return outcome, false, err
	}
	talking, hush := context.WithCancelCause(ctx)
	defer hush(nil)
	screen.watch = func(_ conversation.Frame, ended bool) { // words often correct an unsure verdict when the other side pauses
		_, open := screen.turns()
		action, _ := c.reaction(screen.answerer.Category)
		if action != agents.MachineIgnore && (ended || screen.answerer.Sure && !open) {
			hush(errMachine)
		}
	}
	defer func() { screen.watch = nil }()
	outcome, err = talk.Run(talking, audio, brain)
	return outcome, errors.Is(context.Cause(talking), errMachine), err
}

// speaker returns the synthesizer for the calls of an organization's agent, which applies the agent's voice settings and pronunciations.
func (s *Service) speaker(org callwright.OrgID, a agents.Agent) tts.Synthesizer {
	speaker := s.cfg.Synthesizer
	if s.cfg.Voices != nil {
		speaker = s.cfg.Voices.Speaker(org)
	}
	prosody, _ := a.Prosody() // checked before the call; a number's agent that was stored earlier speaks without it
	return tts.Styled(speaker, prosody, tts.NewGuide(a.Pronunciation))
}

// recognizer returns the recognizer for the calls of an organization.
func (s *Service) recognizer(org callwright.OrgID) conversation.Recognizer {
	if shared, ok := s.cfg.Recognizer.(conversation.OrgRecognizers); ok {
		return shared.RecognizerOf(org)
	}
	return s.cfg.Recognizer
}

// conversationConfig returns the configuration of the conversation of an agent.
func (s *Service) conversationConfig(
	org callwright.OrgID, a agents.Agent, ears *conversation.EarlyStreamer, book *recordWriter,
) conversation.Config {
	config := conversation.Config{
		Recognizer: ears, Synthesizer: s.speaker(org, a), Activity: s.cfg.Activity, Observer: book, Runtime: callwright.Runtime{Clock: book.clock, Logger: s.cfg.Logger.With("call_id", book.call.ID)},
		Voice: a.Voice, Language: a.Language, WaitForGreeting: a.WaitForGreeting,
		EndOfTurn: a.LeastWait, LongestWait: a.LongestWait, Keywords: a.Terms(),
	}
	a.Idle.Configure(&config, a.Language)
	if a.Interruption != nil {
		config.Interruption = max(*a.Interruption, time.Millisecond) // 0 would mean the conversation's default
	}
	if a.Interruptibility != nil {
		config.Interruptibility = conversation.InterruptibilityOf(*a.Interruptibility)
	}
	return config
}

// audio returns the leg's audio, and records it if the agent has Record. If the recording cannot begin, the call continues without it. stop
// finishes the recording and sets c.Recorded.
func (s *Service) audio(ctx context.Context, c *Call, leg Leg, b *background) (audio conversation.Audio, stop func()) {
	if !c.Agent.Record {
		return leg, func() {}
	}
	recording, err := s.record(ctx, *c, leg, b)
	if err != nil { // the call continues without a recording
		s.goUnrecorded(ctx, c, err)
		return leg, func() {}
	}
	return recording, func() {
		err := recording.stop()
		c.Recorded = err == nil
		if err != nil {
			s.goUnrecorded(ctx, c, err)
		}
	}
}

// goUnrecorded logs the error of a recording, and notes the reason in the call's record.
func (s *Service) goUnrecorded(ctx context.Context, c *Call, err error) {
	s.cfg.Logger.ErrorContext(ctx, "cannot record a call", "call_id", c.ID, "error", err)
	c.unrecorded = "the call was not recorded"
	if callwright.CodeOf(err) != callwright.CodeInternal {
		c.unrecorded += ": " + callwright.MessageOf(err)
	}
}

// record creates the file of a call's recording and starts to record the leg.
func (s *Service) record(ctx context.Context, c Call, leg Leg, b *background) (*recordedAudio, error) {
	file, err := s.cfg.Recordings.Create(ctx, c.Org, c.ID)
	if err != nil {
		return nil, err
	}
	return recordAudio(leg, file, b)
}

// The SIP codes in the records of calls that this package answers or rejects.
const (
	statusOK          = 200
	statusUnavailable = 480 // code of a call that is rejected with CauseUnavailable
	statusInternal    = 503 // code of a call that is rejected with CauseInternal
)

// end hangs up the call unless it has ended, and returns the reason for its end.
func (s *Service) end(ctx context.Context, c Call, leg Leg, outcome conversation.Outcome, err error) HangupReason {
	ours, planned := errors.AsType[*HangupReason](err)
	if err != nil && !planned {
		s.cfg.Logger.ErrorContext(ctx, "conversation failed", "call_id", c.ID, "error", err)
	}
	if c.TransferredBy == TransferredByAgent {
		return HangupReason{Cause: CauseTransferred, Reason: outcome.TransferTo}
	}
	select {
	case <-leg.Done(): // the other side or the line ended the call first
		return leg.Ending()
	default:
	}
	s.hangup(ctx, leg)
	ended := leg.Ending()
	if outcome.By == conversation.ByPeer && ended.Cause != "" { // the audio ended before the call; meanwhile the line has set the reason
		return ended
	}
	why := whyEnded(ctx, outcome, err)
	if planned && ours != errEnded {
		why = *ours
	}
	why.SIPCode, why.Release, why.Unconfirmed = ended.SIPCode, ended.Release, ended.Unconfirmed
	return why
}

// whyEnded returns the reason why this side hung up.
func whyEnded(ctx context.Context, outcome conversation.Outcome, err error) HangupReason {
	switch {
	case outcome.By == conversation.ByPeer:
		return HangupReason{Cause: CauseMediaTimeout, Reason: outcomes[CauseMediaTimeout].message}
	case errors.Is(context.Cause(ctx), errDraining):
		return *errDraining
	case outcome.By == conversation.ByFailure:
		return hangupOfFailure(err)
	case errors.Is(context.Cause(ctx), errMaxDuration):
		return HangupReason{Cause: CauseMaxDuration, Reason: errMaxDuration.Error()}
	case ctx.Err() != nil:
		return HangupReason{Cause: CauseLocalHangup, Reason: context.Cause(ctx).Error()}
	default:
		return HangupReason{Cause: CauseLocalHangup, Reason: outcome.Reason}
	}
}

// transfer transfers the call and reports whether the call has ended. The transcript contains the attempt, and the recording contains the
// audio during the attempt. If the transfer fails, the conversation continues with the words that the caller has said since the start of
// the transfer.
func (s *Service) transfer(
	ctx context.Context, c *Call, leg Leg, to string, book *recordWriter, listen listenFunc,
) (meanwhile conversation.Meanwhile, gone bool) {
	start := book.clock.Now().Sub(*c.StartedAt)
	stop := listenOn(ctx, listen)
	err := leg.Transfer(ctx, to)
	meanwhile = stop(err == nil)
	text := "transferred the call to " + to
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "cannot transfer a call", "call_id", c.ID, "error", err)
		text = "tried to transfer the call to " + to + ", which failed: " + callwright.MessageOf(err)
	} else {
		now := book.clock.Now()
		c.TransferredTo, c.TransferredAt, c.TransferredBy = to, &now, TransferredByAgent
	}
	book.notice(EventsCall, EventInfo, text)
	book.changed(*c)
	s.observed.add(Observation{What: ObservedTransfer, At: book.clock.Now(), Call: *c, To: to})
	book.line(Entry{Speaker: SpeakerAction, Text: text, Start: start, End: book.clock.Now().Sub(*c.StartedAt)})
	return meanwhile, err == nil
}

// listenFunc listens to a call until ctx ends, or until the channel over is closed and the caller has finished.
type listenFunc func(ctx context.Context, over <-chan struct{}) conversation.Meanwhile

// listenOn listens to a call in the background until stop is called. stop(true) ends the listening immediately. stop(false) waits until the
// caller has finished. Both return the caller's words.
func listenOn(ctx context.Context, listen listenFunc) (stop func(atOnce bool) conversation.Meanwhile) {
	ctx, cancel := context.WithCancel(ctx)
	over, heard := make(chan struct{}), make(chan conversation.Meanwhile, 1)
	go func() { heard <- listen(ctx, over) }()
	return func(atOnce bool) conversation.Meanwhile {
		defer cancel()
		close(over)
		if atOnce {
			cancel()
		}
		return <-heard
	}
}

// hangup ends the leg, even if ctx has ended, and waits for its end for at most hangupPatience.
func (s *Service) hangup(ctx context.Context, leg Leg) {
	hangup := leg.Hangup
	if explained, ok := leg.(Explained); ok && errors.Is(context.Cause(ctx), errDraining) {
		hangup = func(ctx context.Context) error { return explained.HangupFor(ctx, *errDraining) }
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangupPatience)
	defer cancel()
	if err := hangup(ctx); err != nil {
		s.cfg.Logger.WarnContext(ctx, "cannot hang up", "error", err)
	}
}

// hangupOfFailure returns the hang-up reason of a conversation that failed.
func hangupOfFailure(err error) HangupReason {
	_, ofModel := errors.AsType[*llm.Failure](err)
	switch {
	case ofModel && llm.ClassOf(err) == llm.ClassPermanent:
		return HangupReason{Cause: CauseModelRefused, Reason: llm.Reason(err)}
	case ofModel:
		return HangupReason{Cause: CauseModelFailed, Reason: llm.Reason(err)}
	case callwright.CodeOf(err) != callwright.CodeInternal:
		return HangupReason{Cause: CauseServiceFailed, Reason: callwright.MessageOf(err)}
	default:
		return HangupReason{Cause: CauseInternal, Reason: "the conversation failed"}
	}
}
