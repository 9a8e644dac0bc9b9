package agentstest

import (
	"context"
	"errors"
	"testing"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// AudioHarness is the harness of RunAudio. It makes the audio of calls that have just been answered.
type AudioHarness struct {
	// Connect returns the audio of a call and its far end, whose Hangup ends the call. The suite hangs up every call.
	Connect func(t *testing.T) (conversation.Audio, FarLeg)
	// Hold returns the same, and a function with which the far end holds and resumes the call.
	Hold func(t *testing.T) (audio conversation.Audio, far FarLeg, hold func(on bool))
}

// RunAudio tests a conversation.Audio that is not a call.Leg, for example in a program with its own telephony. RunLeg also tests
// the audio of a call.Leg. Calls last a few seconds, in real time.
func RunAudio(t *testing.T, h AudioHarness) {
	t.Helper()
	legs := LegHarness{
		Connect: func(t *testing.T) (call.Leg, FarLeg) {
			audio, far := h.Connect(t)
			return &audioLeg{Audio: audio, far: far}, far
		},
		Hold: func(t *testing.T) (call.Leg, func(on bool)) {
			audio, far, hold := h.Hold(t)
			return &audioLeg{Audio: audio, far: far}, hold
		},
	}
	for name, check := range map[string]func(*testing.T, LegHarness){
		"frames": legFrames, "audio": legAudio, "playout": legPlayout, "write ends": legWriteEnds, "digits": legDigits,
		"hold": legHold, "far end hangs up": audioEnds, "read gives up": legReadGivesUp,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, legs)
		})
	}
}

// audioEnds checks that Read returns an error after the call, and that no reader waits for its audio.
func audioEnds(t *testing.T, h LegHarness) {
	leg, far := h.Connect(t)
	n := follow(t, leg)
	far.Hangup()
	closes(t, "Read returns an error after the end", n.done)
	if err := leg.Write(patient(t), beep(leg.Rate(), frameTime)); err == nil {
		t.Error("after the call, Write returns nil")
	}
	if leg.Flush(); leg.Queued() != 0 {
		t.Errorf("after Flush, %d samples are queued", leg.Queued())
	}
}

// audioLeg makes a call.Leg of audio, for the checks of RunLeg that need only audio.
type audioLeg struct {
	conversation.Audio
	far FarLeg
}

var _ call.Leg = (*audioLeg)(nil)

// Info returns values, because legFrames checks them.
func (*audioLeg) Info() call.LegInfo {
	return call.LegInfo{SIPCallID: "audio", Peer: "audio", Codec: "audio", SRTPSuite: "audio", TLS: "audio"}
}

// Transfer returns an error.
func (*audioLeg) Transfer(context.Context, string) error {
	return errors.New("agentstest: audio cannot be transferred")
}

// Hangup lets the far end hang up.
func (l *audioLeg) Hangup(ctx context.Context) error {
	l.far.Hangup()
	select {
	case <-l.far.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done is closed when the far end has ended the call.
func (l *audioLeg) Done() <-chan struct{} { return l.far.Done() }

// Ending returns the zero value.
func (*audioLeg) Ending() call.HangupReason { return call.HangupReason{} }

// Stats returns zero statistics.
func (*audioLeg) Stats() call.Stats { return call.Stats{} }
