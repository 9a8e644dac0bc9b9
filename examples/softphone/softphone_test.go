package main

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/speech/pcm"
)

// patience is the time limit of a test.
const patience = 60 * time.Second

// TestTwoPhones starts two phones. One of them calls the other, plays a tone, sends digits and hangs up. The test checks that the callee
// records the tone.
func TestTwoPhones(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	tone, heard := filepath.Join(folder, "tone.wav"), filepath.Join(folder, "heard.wav")
	writeTone(t, tone)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	callee := options{Listen: "127.0.0.1:0", Data: folder, Record: heard, Pause: time.Second, Calls: 1}
	server, answered := callee.listening(t, ctx)
	caller := options{
		Listen: "127.0.0.1:0", Data: folder, Server: server, Dial: "+12025550102", From: "+12025550101",
		Play: tone, DTMF: "42", Hangup: true, Pause: 300 * time.Millisecond,
	}
	if err := caller.telephone(ctx); err != nil {
		t.Errorf("calling: %v", err)
	}
	if err := <-answered; err != nil {
		t.Errorf("answering: %v", err)
	}
	f, err := os.Open(heard)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	audio, err := pcm.ReadWAV(f, maxWAV)
	if err != nil {
		t.Fatal(err)
	}
	left, right := pcm.Loudness(audio.Channel(0)), pcm.Loudness(audio.Channel(1))
	if left < -40 || right > -60 {
		t.Errorf("heard %.0f dBFS and said %.0f; the tone is at -13 for a part of the call, and nothing was said", left, right)
	}
}

func TestDecline(t *testing.T) {
	t.Parallel()
	for decline, want := range refusals {
		folder := t.TempDir()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		callee := options{Listen: "127.0.0.1:0", Data: folder, Decline: decline, Calls: 1}
		server, answered := callee.listening(t, ctx)
		caller := options{Listen: "127.0.0.1:0", Data: folder, Server: server, Dial: "+12025550102", From: "+12025550101"}
		err := caller.telephone(ctx)
		var ending *call.HangupReason
		if !errors.As(err, &ending) || ending.SIPCode < 400 || want == call.CauseBusy && ending.Cause != want {
			t.Errorf("%s: the caller got %v", decline, err)
		}
		if err := <-answered; err != nil {
			t.Errorf("%s: %v", decline, err)
		}
		cancel()
	}
}

// listening opens the phone and answers one call with its options. It returns the phone's URI, and a channel for the error of the call.
func (o options) listening(t *testing.T, ctx context.Context) (uri string, answered <-chan error) { //nolint:revive // t first
	t.Helper()
	ua, err := o.open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ua.Close(context.Background()) })
	go func() { _ = ua.Run(context.Background()) }()
	done := make(chan error, 1)
	go func() {
		pending, err := ua.Accept(ctx)
		if err == nil {
			err = o.answer(ctx, pending, player{options: o})
		}
		done <- err
	}()
	return ua.URI(), done
}

// writeTone writes a WAV file with one second of 440 Hz at 16 kHz, a rate that the phone must resample.
func writeTone(t *testing.T, path string) {
	t.Helper()
	const rate = 16000
	samples := make([]int16, rate)
	for i := range samples {
		samples[i] = int16(10000 * math.Sin(2*math.Pi*440*float64(i)/rate))
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	err = pcm.WriteWAV(f, pcm.Audio{Rate: rate, Channels: 1, Samples: samples})
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestParseLines(t *testing.T) {
	t.Parallel()
	o, err := parse([]string{"--say", "two five [700ms] one", "--over", "2s uh-huh", "--say", "[1s] bye"})
	want := []line{
		{pieces: []piece{{0, "two five"}, {700 * time.Millisecond, "one"}}},
		{pieces: []piece{{0, "uh-huh"}}, over: 2 * time.Second},
		{pieces: []piece{{time.Second, "bye"}}},
	}
	if err != nil || !reflect.DeepEqual(o.Lines, want) {
		t.Errorf("the lines are %v, want %v; %v", o.Lines, want, err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--server":   {"--dial", "+12025550101"},
		"--decline":  {"--decline", "rudely"},
		"-pause":     {"--pause", "soon"},
		"[700ms]":    {"--say", "one [later] two"},
		"of at most": {"--say", "one [2m] two"},
		"words":      {"--say", "[1s]"},
		"2s uh-huh":  {"--over", "uh-huh"},
	} {
		if _, err := parse(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v gave %v, want an error about %s", args, err, want)
		}
	}
}
