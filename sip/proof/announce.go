package proof

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/testcall"
)

// Speaker makes speech of English text. siptest.RunSpeaker tests it.
type Speaker interface {
	// Speak returns the speech of a text, mono, at a rate of 8000, 16000 or 48000 samples a second. A word lasts 0.1 to 5 seconds,
	// and its loudest sample is at least 1000.
	Speak(ctx context.Context, text string, rate int) ([]int16, error)
}

// Voice is an Announcer over the line of test calls. Only their SIP messages are recorded.
type Voice struct {
	Line    testcall.Line
	Speaker Speaker
}

// The times of an announcement.
const (
	ring           = 40 * time.Second
	pause          = 500 * time.Millisecond // after each part
	playCheck      = 20 * time.Millisecond  // between checks of the playout
	hangupPatience = 10 * time.Second
)

// Announce calls a number, speaks, and hangs up.
func (v Voice) Announce(ctx context.Context, a Announcement) error {
	leg, err := v.Line.Place(ctx, testcall.Placement{ID: a.ID, Org: a.Org, Number: a.From, To: a.To, Ring: ring}, func(ladder.Event) {})
	var failure *testcall.Failure
	switch {
	case errors.As(err, &failure):
		return callwright.Errorf(callwright.CodeUnavailable, "%s", failure.Reason)
	case err != nil:
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangupPatience)
		defer cancel()
		_ = leg.Hangup(ending)
	}()
	talking, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer stop()
		for { // the callee's audio is discarded
			if _, err := leg.Read(talking); err != nil {
				return
			}
		}
	}()
	err = v.say(talking, leg, a.Parts)
	if err != nil && talking.Err() != nil && ctx.Err() == nil {
		return nil // the callee has hung up
	}
	return err
}

// say speaks all parts and waits until they are played.
func (v Voice) say(ctx context.Context, leg testcall.Leg, parts []string) error {
	silence := make([]int16, int(pause.Seconds()*float64(leg.Rate())))
	spoken := map[string][]int16{}
	for _, part := range parts {
		if spoken[part] == nil {
			speech, err := v.Speaker.Speak(ctx, part, leg.Rate())
			if err != nil {
				return err
			}
			spoken[part] = append(speech, silence...)
		}
		if err := leg.Write(ctx, spoken[part]); err != nil {
			return err
		}
	}
	look := time.NewTicker(playCheck)
	defer look.Stop()
	for leg.Queued() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
	return nil
}
