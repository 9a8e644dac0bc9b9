package agentstest

import (
	"context"
	"errors"
	"testing"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// AudioHarness is the harness of RunAudio. Its functions return the audio of calls that have just been answered.
type AudioHarness struct {
	// Connect returns the audio of a call, and the far end, whose Hangup ends the call. The suite hangs up every call.
	Connect func(t *testing.T) (conversation.Audio, FarLeg)
	// Hold returns the same as Connect, and a function by which the far end holds and resumes the call.
	Hold func(t *testing.T) (audio conversation.Audio, far FarLeg, hold func(on bool))
}

// RunAudio tests a conversation.Audio that is not a call.Leg, for example in a program with its own telephony. For a call.Leg, use RunLeg,
// which tests its audio too. Calls last a few seconds in real time.
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

// audioEnds checks that Read and Write return errors after the call, and that Flush empties the queue.
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

// audioLeg adapts a conversation.Audio to a call.Leg, so that RunAudio can share RunLeg's checks of audio.
type audioLeg struct {
	conversation.Audio
	far FarLeg
}

var _ call.Leg = (*audioLeg)(nil)

// Info returns fixed values, because legFrames requires them to be non-empty.
func (*audioLeg) Info() call.LegInfo {
	return call.LegInfo{SIPCallID: "audio", Peer: "audio", Codec: "audio", SRTPSuite: "audio", TLS: "audio"}
}

// Transfer always returns an error, because a conversation.Audio cannot be transferred.
func (*audioLeg) Transfer(context.Context, string) error {
	return errors.New("agentstest: audio cannot be transferred")
}

// Hangup hangs up the far end, and waits until the call has ended.
func (l *audioLeg) Hangup(ctx context.Context) error {
	l.far.Hangup()
	select {
	case <-l.far.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done returns a channel that is closed when the far end has ended the call.
func (l *audioLeg) Done() <-chan struct{} { return l.far.Done() }

// Ending returns the zero value, because a conversation.Audio reports no reason.
func (*audioLeg) Ending() call.HangupReason { return call.HangupReason{} }

// Stats returns zero statistics, because a conversation.Audio counts nothing.
func (*audioLeg) Stats() call.Stats { return call.Stats{} }
