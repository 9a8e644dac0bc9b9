package e2e_test

import (
	"errors"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/sipp"
)

// TestPeerRefuses checks the errors of calls to servers that refuse them in different ways.
func TestPeerRefuses(t *testing.T) {
	t.Parallel()
	for scenario, want := range map[sipp.Scenario]call.HangupReason{
		sipp.Busy:        {Cause: call.CauseBusy, SIPCode: 486},
		sipp.Decline:     {Cause: call.CauseRejected, SIPCode: 603},
		sipp.Unavailable: {Cause: call.CauseOverload, SIPCode: 503},
	} {
		t.Run(string(scenario), func(t *testing.T) {
			t.Parallel()
			ca := authority(t)
			peer := sipp.Start(t, ca, scenario)
			line, media := newLine(t, ca, peer.URI())
			_, err := line.Dial(t.Context(), call.DialRequest{Org: "o", From: ours, To: theirs}, nil)
			e, ok := errors.AsType[*call.HangupReason](err)
			if !ok || e.Cause != want.Cause || e.SIPCode != want.SIPCode {
				t.Errorf("the call ended with %+v, want %+v", err, want)
			}
			peer.Succeeds(t)
			await.That(t, "the media to be gone", func() bool { return media.Counters().Sessions == 0 })
		})
	}
}

// TestPeerAnswers checks calls to servers that answer late, answer from two phones, or repeat their answer.
func TestPeerAnswers(t *testing.T) {
	t.Parallel()
	for _, scenario := range []sipp.Scenario{sipp.Slow, sipp.Forked, sipp.LostACK} {
		t.Run(string(scenario), func(t *testing.T) {
			t.Parallel()
			ca := authority(t)
			peer := sipp.Start(t, ca, scenario)
			line, _ := newLine(t, ca, peer.URI())
			leg, err := line.Dial(t.Context(), call.DialRequest{Org: "o", From: ours, To: theirs, Ring: 30 * time.Second}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := leg.Write(t.Context(), make([]int16, leg.Rate()/5)); err != nil {
				t.Fatal(err)
			}
			await.That(t, "what is said to be played", func() bool { return leg.Queued() == 0 })
			if err := leg.Hangup(t.Context()); err != nil {
				t.Error(err)
			}
			peer.Succeeds(t)
		})
	}
}

// TestPeerFailsOver calls through two servers, of which the first fails. The call must use the second server, and must leave no dialog at
// the first.
func TestPeerFailsOver(t *testing.T) {
	t.Parallel()
	for _, scenario := range []sipp.Scenario{sipp.Unavailable, sipp.Silent, sipp.Late} {
		t.Run(string(scenario), func(t *testing.T) {
			t.Parallel()
			ca := authority(t)
			first := sipp.Start(t, ca, scenario)
			second := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
			line, media := newLine(t, ca, first.URI(), second.Server())
			leg, err := line.Dial(t.Context(), call.DialRequest{Org: "o", From: ours, To: theirs}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if peer := leg.Info().Peer; peer != second.Addr().String() {
				t.Errorf("the call goes over %s", peer)
			}
			second.Await(t, "CALL_ESTABLISHED", 1)
			first.Succeeds(t)
			if err := leg.Hangup(t.Context()); err != nil {
				t.Error(err)
			}
			await.That(t, "the media to be gone", func() bool { return media.Counters().Sessions == 0 })
		})
	}
}
