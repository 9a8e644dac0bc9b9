package call

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/template"
	"github.com/callwright/callwright/speech/tts"
)

// errMachine is the cause that ends a conversation, because a machine answered and the plan requires a reaction.
var errMachine = errors.New("an answering machine answered the call")

// reasonMessageLeft is the hang-up reason after a message was left on an answering machine.
const reasonMessageLeft = "a message was left on an answering machine"

// The limits for machines.
const (
	greetingPatience  = time.Minute      // a message is left after this time even if the greeting continues
	messagePatience   = 20 * time.Second // duration of sound that interrupts the message; machines stop earlier
	screeningPatience = time.Minute      // time for a person to come to the phone after an introduction
	wordsPatience     = 2 * time.Second  // time for the words of that person to be recognized
	maxIntroductions  = 2                // introductions in a call
)

// machineEnds lists the hang-up reasons for machines on which the plan hangs up.
var machineEnds = map[Category]HangupReason{
	CategoryVoicemail:    {Cause: CauseLocalHangup, Reason: errMachine.Error()},
	CategoryIVR:          {Cause: CauseLocalHangup, Reason: "a menu answered the call"},
	CategoryScreening:    {Cause: CauseLocalHangup, Reason: "call screening answered the call"},
	CategoryAnnouncement: {Cause: CauseAnnouncement},
	CategorySIT:          {Cause: CauseSIT},
	CategoryFax:          {Cause: CauseFax},
}

// errNoPerson ends a call that nobody answered after an introduction to call screening.
var errNoPerson = &HangupReason{Cause: CauseLocalHangup, Reason: "nobody came to the phone after call screening"}

// machineTalk reacts to a machine that answered a call.
type machineTalk struct {
	service *Service
	call    *Call
	audio   *amdAudio
	config  conversation.Config // of the call's conversation
}

// react carries out the plan for the machine that answered. If resume is true, the conversation continues, because the plan ignores the
// party that is on the line now. Otherwise outcome and err describe the end of the call; err may be a *HangupReason.
func (m *machineTalk) react(ctx context.Context) (resume bool, outcome conversation.Outcome, err error) {
	for introductions := 0; ; {
		by := m.audio.answerer.Category
		action, text := m.call.reaction(by)
		changed := func() bool { return m.audio.answerer.Category != by }
		switch {
		case action == agents.MachineHangup:
			end := machineEnds[by]
			return false, conversation.Outcome{By: conversation.ByAgent}, &end
		case action == agents.MachineMessage:
			if outcome, err = m.listen(ctx, greetingPatience, func(_ conversation.Frame, ended bool) bool { return changed() || ended }); err != nil {
				return false, outcome, err
			}
			if !changed() {
				outcome, err = m.say(ctx, text, reasonMessageLeft)
				return false, outcome, err
			}
		case action == agents.MachineIntroduce && introductions < maxIntroductions:
			introductions++
			if outcome, err = m.introduce(ctx, text, changed); err != nil {
				return false, outcome, err
			}
		default:
			return true, outcome, nil
		}
	}
}

// introduce waits for the end of the question, says the text, and waits until a person or another machine is on the line. It returns
// errNoPerson after screeningPatience. changed reports whether the party has changed.
func (m *machineTalk) introduce(ctx context.Context, text string, changed func() bool) (conversation.Outcome, error) {
	outcome, err := m.listen(ctx, greetingPatience, func(_ conversation.Frame, ended bool) bool { return changed() || ended })
	if err != nil || changed() {
		return outcome, err
	}
	if outcome, err = m.say(ctx, text, ""); err != nil || outcome.By != conversation.ByAgent {
		return outcome, orEnded(err)
	}
	m.audio.restart(m.service.cfg.AMD(m.audio.Rate(), m.call.Agent.Language))
	outcome, err = m.listen(ctx, screeningPatience, func(f conversation.Frame, _ bool) bool {
		by, at := m.audio.answerer.Category, m.audio.answerer.At
		heard, _ := m.audio.turns()
		return by != "" && by != CategoryUnknown && (by != CategoryHuman || heard != "" || f.Elapsed-at >= wordsPatience)
	})
	if by := m.audio.answerer.Category; err == nil && (by == "" || by == CategoryUnknown) {
		return conversation.Outcome{By: conversation.ByAgent}, errNoPerson
	}
	return outcome, err
}

// errEnded reports that the call or its context has ended. The Outcome has the details.
var errEnded = &HangupReason{}

// orEnded returns err, or errEnded if err is nil.
func orEnded(err error) error {
	if err == nil {
		return errEnded
	}
	return err
}

// listen transcribes the other side without answers, until the limit is over, or the function done returns true after a frame and the words
// of the other side's turn are known. ended is AMD.Ended. It returns errEnded if the call or ctx has ended.
func (m *machineTalk) listen(
	ctx context.Context, limit time.Duration, done func(f conversation.Frame, ended bool) bool,
) (conversation.Outcome, error) {
	config := m.config
	config.WaitForGreeting, config.Silence, config.Meanwhile = true, 2*limit, conversation.Meanwhile{}
	talk, err := conversation.New(config)
	if err != nil {
		return conversation.Outcome{By: conversation.ByFailure}, err
	}
	listening, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	began := time.Duration(-1)
	m.audio.watch = func(f conversation.Frame, ended bool) {
		if began < 0 {
			began = f.Elapsed
		}
		if _, open := m.audio.turns(); done(f, ended) && (ended || !open) || f.Elapsed-began >= limit {
			stop(errMachine)
		}
	}
	outcome, err := talk.Run(listening, m.audio, silent{})
	m.audio.watch = nil
	if err == nil && !errors.Is(context.Cause(listening), errMachine) {
		err = errEnded
	}
	return outcome, err
}

// say says a text of the plan, and ends the conversation with the reason.
func (m *machineTalk) say(ctx context.Context, text, reason string) (conversation.Outcome, error) {
	config := m.config
	config.WaitForGreeting, config.Interruption, config.Meanwhile = false, messagePatience, conversation.Meanwhile{}
	if config.Interruptibility != conversation.NeverInterrupted {
		config.Interruptibility = conversation.ReluctantlyInterrupted // no sound makes the message softer
	}
	talk, err := conversation.New(config)
	if err != nil {
		return conversation.Outcome{By: conversation.ByFailure}, err
	}
	return talk.Run(ctx, m.audio, &message{text: template.Parse(text).Render(m.call.Variables), reason: reason})
}

// silent is a brain that says nothing.
type silent struct{}

// Respond implements conversation.Brain.
func (silent) Respond(context.Context, conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(func(conversation.Step, error) bool) {}
}

// message is a brain that says a text and ends the conversation. A second turn also ends it: the other side has interrupted the text.
type message struct {
	text, reason string
	begun        bool
}

// Respond says the text in the first turn, and ends the conversation.
func (m *message) Respond(context.Context, conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		if m.begun {
			yield(conversation.End{Reason: errMachine.Error()}, nil)
			return
		}
		m.begun = true
		var chunks tts.Chunker
		for _, chunk := range append(chunks.Write(m.text), chunks.Flush()...) {
			if !yield(conversation.Say{Text: chunk}, nil) {
				return
			}
		}
		yield(conversation.End{Reason: m.reason}, nil)
	}
}

// resumed is a brain whose first turn is the other side's words, which another conversation on the call has recognized.
type resumed struct {
	conversation.Brain
	heard string
}

// Respond passes the turn to the brain.
func (b *resumed) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	if t.Kind == conversation.TurnStart && b.heard != "" {
		t.Kind, t.Text = conversation.TurnSpeech, b.heard
	}
	b.heard = ""
	return b.Brain.Respond(ctx, t)
}

// AnswersEarly implements conversation.EarlyBrain.
func (b *resumed) AnswersEarly() bool {
	early, ok := b.Brain.(conversation.EarlyBrain)
	return ok && early.AnswersEarly()
}
