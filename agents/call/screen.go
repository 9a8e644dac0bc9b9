package call

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/template"
	"github.com/callwright/callwright/speech/tts"
)

// errMachine is the error that ends the conversation with an answering machine.
var errMachine = errors.New("an answering machine answered the call")

// reasonMessageLeft is the hang-up reason after a message was left on an answering machine.
const reasonMessageLeft = "a message was left on an answering machine"

// The limits for answering machines.
const (
	greetingPatience = time.Minute      // a message is left after this time even if the greeting continues
	messagePatience  = 20 * time.Second // duration of sound that interrupts the message; machines stop earlier
)

// amdAudio passes the beginning of a call's audio to an AMD.
type amdAudio struct {
	conversation.Audio
	screener AMD
	decided  bool
	verdict  func(AnsweredBy) // called by Read at the first decision, at most once
}

// Read reads a frame and passes it to the AMD. It calls verdict at the first decision.
func (a *amdAudio) Read(ctx context.Context) (conversation.Frame, error) {
	f, err := a.Audio.Read(ctx)
	if err != nil {
		return f, err
	}
	if verdict, decided := a.screener.Hear(f); decided && !a.decided {
		a.decided = true
		a.verdict(verdict)
	}
	return f, nil
}

// detectMachine returns audio that runs the AMD at the beginning of a placed call and records the answering party. For an answering machine
// it calls hush with errMachine, if the plan hangs up or leaves a message. For an incoming call, or without Config.AMD, detectMachine
// returns the audio unchanged.
func (s *Service) detectMachine(
	c *Call, audio conversation.Audio, book *recordWriter, hush context.CancelCauseFunc,
) conversation.Audio {
	if c.Inbound || s.cfg.AMD == nil {
		return audio
	}
	return &amdAudio{Audio: audio, screener: s.cfg.AMD(audio.Rate()), verdict: func(by AnsweredBy) {
		c.AnsweredBy = by
		book.changed(*c)
		book.notice(EventsCall, EventInfo, "answered by: "+string(by))
		s.observed.add(Observation{What: ObservedAnsweredBy, At: book.clock.Now(), Call: *c})
		machine := c.Plan.Voicemail.Action == VoicemailHangup || c.Plan.Voicemail.Action == VoicemailMessage
		if by == AnsweredByVoicemail && machine {
			hush(errMachine)
		}
	}}
}

// finishConversation carries out the call's plan for an answering machine: it hangs up, or first leaves a message. talk configures the
// conversation that says the message.
func (s *Service) finishConversation(
	ctx context.Context, c *Call, audio conversation.Audio, talk conversation.Config,
) (conversation.Outcome, error) {
	gone := conversation.Outcome{By: conversation.ByAgent, Reason: errMachine.Error()}
	heard, ok := audio.(*amdAudio)
	if c.Plan.Voicemail.Action == VoicemailHangup || !ok {
		return gone, nil
	}
	if err := heard.awaitEnd(ctx); err != nil {
		gone.By = conversation.ByPeer
		if ctx.Err() != nil {
			gone.By = conversation.ByContext
		}
		return gone, nil
	}
	talk.WaitForGreeting, talk.Interruption = false, messagePatience
	speaking, err := conversation.New(talk)
	if err != nil {
		return conversation.Outcome{By: conversation.ByFailure}, err
	}
	text := template.Parse(c.Plan.Voicemail.Message).Render(c.Variables)
	return speaking.Run(ctx, audio, &message{text: text})
}

// awaitEnd reads audio until the machine's greeting is over, for at most greetingPatience.
func (a *amdAudio) awaitEnd(ctx context.Context) error {
	for began := time.Duration(-1); !a.screener.Ended(); {
		f, err := a.Read(ctx)
		if err != nil {
			return err
		}
		if began < 0 {
			began = f.Elapsed
		}
		if f.Elapsed-began >= greetingPatience {
			return nil
		}
	}
	return nil
}

// message is a brain that says a text and ends the conversation. A second turn also ends it: the other side has interrupted the text.
type message struct {
	text  string
	begun bool
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
		yield(conversation.End{Reason: reasonMessageLeft}, nil)
	}
}
