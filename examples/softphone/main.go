// Command softphone is a small SIP phone for trials and tests. It listens on TLS, answers concurrent calls, plays a file or speaks text,
// sends DTMF, records both sides, and hangs up. With a recording it answers one call at a time. It does not register. With --dial it places
// a call instead.
//
// It uses the same adapters as the server for SIP, media and speech, but no trunks.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip"
)

// options are the values of the flags.
type options struct {
	Listen  string
	Data    string
	Lines   []line
	Play    string
	DTMF    string
	Record  string
	Pause   time.Duration
	Decline string
	Hangup  bool
	Calls   int
	Dial    string
	From    string
	Server  string
	Verbose bool
}

func main() { os.Exit(run()) }

func run() int {
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "softphone:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.telephone(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "softphone:", err)
		return 1
	}
	return 0
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("softphone", flag.ContinueOnError)
	f.StringVar(&o.Listen, "listen", "127.0.0.1:5071", "address of SIP over TLS; port 0 takes any")
	f.StringVar(&o.Data, "data", "./data", "the server's data folder: its test authority signs the phone's certificate, and the phone trusts it")
	f.Func("say", "a line to speak when the other side has finished, with pauses as in \"two five [700ms] one\"; may be given several times",
		func(text string) error { return o.add(text, 0) })
	f.Func("over", "a line to speak over the other side, as in \"2s uh-huh\": that long after it begins to speak; in order with --say and other --over, each of which waits for the next time it begins to speak after at least --pause of silence",
		func(text string) error {
			after, words, _ := strings.Cut(text, " ")
			over, err := time.ParseDuration(after)
			if err != nil || over <= 0 {
				return errors.New("must be a time and a line, such as \"2s uh-huh\"")
			}
			return o.add(words, over)
		})
	f.StringVar(&o.Play, "play", "", "a WAV file to play before any line")
	f.StringVar(&o.DTMF, "dtmf", "", "digits to send after the lines")
	f.StringVar(&o.Record, "record", "", "a WAV file to record to: heard on the left, said on the right")
	f.DurationVar(&o.Pause, "pause", time.Second, "how long the other side must be silent to have finished")
	f.StringVar(&o.Decline, "decline", "", "refuse every call: busy, declined or unavailable")
	f.BoolVar(&o.Hangup, "hangup", false, "hang up after the last line or digit")
	f.IntVar(&o.Calls, "calls", 0, "end after so many calls; 0: never")
	f.StringVar(&o.Dial, "dial", "", "call this number instead of waiting for calls")
	f.StringVar(&o.From, "from", "+15550000000", "the number to call from")
	f.StringVar(&o.Server, "server", "", "the SIP URI of the server to call over, such as sip:127.0.0.1:5061")
	f.BoolVar(&o.Verbose, "verbose", false, "log what happens underneath")
	if err := f.Parse(args); err != nil {
		return options{}, err
	}
	if (o.Dial == "") != (o.Server == "") {
		return options{}, errors.New("--dial and --server must be set together")
	}
	if _, known := refusals[o.Decline]; o.Decline != "" && !known {
		return options{}, errors.New("--decline must be busy, declined or unavailable")
	}
	return o, nil
}

func (o options) logger() *slog.Logger {
	if !o.Verbose {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, nil))
}

// telephone places one call, or answers as many calls as --calls says, unless ctx ends first. With --calls 0 it answers calls without
// limit.
func (o options) telephone(ctx context.Context) error {
	p := player{options: o}
	if len(o.Lines) > 0 {
		var err error
		if p.synthesizer, err = flite.New(flite.Config{Voice: "rms"}); err != nil {
			return err
		}
	}
	ua, err := o.open()
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = ua.Close(closing)
	}()
	go func() { _ = ua.Run(ctx) }()
	fmt.Println("listening at", ua.URI())
	if o.Dial != "" {
		return o.dial(ctx, ua, p)
	}
	var answering sync.WaitGroup
	defer answering.Wait()
	for n := 1; o.Calls == 0 || n <= o.Calls; n++ {
		pending, err := ua.Accept(ctx)
		if err != nil {
			return err
		}
		answering.Go(func() {
			if err := o.answer(ctx, pending, p); err != nil {
				fmt.Fprintln(os.Stderr, "softphone:", err)
			}
		})
		if o.Record != "" {
			answering.Wait() // the recording contains only one call
		}
	}
	return nil
}

// closeTimeout limits the wait for the peer to confirm the end of a call.
const closeTimeout = 5 * time.Second

// refusals maps the values of --decline to hang-up causes.
var refusals = map[string]call.Cause{
	"busy": call.CauseBusy, "declined": call.CauseRejected, "unavailable": call.CauseUnavailable,
}

func (o options) answer(ctx context.Context, pending call.IncomingCall, p player) error {
	offer := pending.Caller()
	fmt.Printf("call from %s for %s\n", offer.From, offer.To)
	if cause, ok := refusals[o.Decline]; ok {
		return pending.Reject(cause)
	}
	leg, err := pending.Answer(ctx)
	if err != nil {
		return err
	}
	return p.play(ctx, leg)
}

func (o options) dial(ctx context.Context, line call.Line, p player) error {
	to, err := callwright.ParsePhoneNumber(o.Dial)
	if err != nil {
		return callwright.InField("--dial", err)
	}
	leg, err := line.Dial(ctx, call.DialRequest{From: callwright.PhoneNumber(o.From), To: to}, func(now call.Progress) {
		fmt.Println(now)
	})
	if err != nil {
		return err
	}
	return p.play(ctx, leg)
}

var _ sip.Routes = anyone{}
