package proof

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/testcall"
)

// Speaker converts English text to speech. siptest.RunSpeaker tests it.
type Speaker interface {
	// Speak returns the speech of a text as mono samples, at a rate of 8000, 16000 or 48000 samples per second. The speech of a single word
	// is 0.1 to 5 seconds long, and its loudest sample is at least 1000.
	Speak(ctx context.Context, text string, rate int) ([]int16, error)
}

// Voice is an Announcer that uses the line of test calls. Only the SIP messages of its calls are recorded.
type Voice struct {
	Line    testcall.Line
	Speaker Speaker
}

// The limits and intervals of an announcement's call.
const (
	ring           = 40 * time.Second
	pause          = 500 * time.Millisecond // silence after each part
	playCheck      = 20 * time.Millisecond  // interval between checks whether all audio is played
	hangupPatience = 10 * time.Second
)

// Announce calls a number, speaks the parts of the announcement, and hangs up. It implements Announcer.
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
		for { // discards the callee's audio
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

// say speaks all parts, and waits until they are played. It generates the speech of a repeated part only once.
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
