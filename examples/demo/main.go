// Command demo shows a real telephone call. It starts the reference server and a softphone as separate programs, attaches a trunk through
// the API, and has the server call the phone over TLS and SRTP. It prints the conversation, generates a test from the call, and runs the
// test against the call's pathway. The exit code is 0 only if all steps succeed. Everything runs on this machine. After success, the demo
// deletes all data except the recording; after a failure, the data and the logs remain.
//
// With -serve it fills the server with calls, tests, an issue and a port. The server then runs until it is interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/sipoas"
)

// patience limits the demo, without the build of the programs and without -serve.
const patience = 3 * time.Minute

// The demo's numbers are from the range 555-01xx, which the North American numbering plan reserves for fiction.
const (
	ourNumber   = "+12025550101"
	phoneNumber = "+12025550102"
)

// saved is the file for the recording of the demo's call, in the working directory.
const saved = "demo-recording.wav"

// options are the values of the flags.
type options struct {
	Serve   bool
	Addr    string
	SIPAddr string
}

func main() {
	var o options
	flag.BoolVar(&o.Serve, "serve", false, "fill a server with calls, tests, an issue and a port, and leave it running")
	flag.StringVar(&o.Addr, "addr", "", "with -serve: the `address` of HTTP (default 127.0.0.1:8080)")
	flag.StringVar(&o.SIPAddr, "sip-addr", "", "with -serve: the `address` of SIP (default 127.0.0.1:5061)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run builds the programs in a temporary folder, and executes the demo. If it fails, the folder stays, because it contains the logs.
func run(ctx context.Context, o options) error {
	work, err := os.MkdirTemp("", "callwright-demo-")
	if err != nil {
		return err
	}
	fmt.Println("building the server and the softphone")
	if err = build(work, "server", "softphone"); err == nil {
		if o.Serve {
			err = serve(ctx, o, work)
		} else {
			err = demonstrate(ctx, work)
		}
	}
	if err != nil {
		return fmt.Errorf("%w (what the programs logged is in %s)", err, work)
	}
	return os.RemoveAll(work)
}

// demonstrate places a call, prints it, tests its pathway, and downloads its recording.
func demonstrate(ctx context.Context, work string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	data := filepath.Join(work, "data")
	server, api, err := begin(ctx, work, data, "127.0.0.1:0", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer server.stop()
	phone, endpoint, err := softphone(ctx, work, data, "softphone", bicycles...)
	if err != nil {
		return err
	}
	defer phone.stop()
	if err := attach(ctx, api.trunks, ourNumber, endpoint); err != nil {
		return err
	}
	pathway, err := publish(ctx, api.pathways)
	if err != nil {
		return err
	}
	record, err := placeCall(ctx, api.calls, pathway)
	if err != nil {
		return err
	}
	if err := errors.Join(
		report(record), testAgain(ctx, api.tests, record.CallID, pathway), writeRecording(ctx, api.calls, record.CallID, saved),
	); err != nil {
		return err
	}
	fmt.Print("\nNext: \"make demo-server\" leaves a server with such calls running, to look around in the browser.\n" +
		"\"make run\" starts an empty one: the README walks through it.\n")
	return nil
}

// bicycles are the softphone's arguments for a customer of the bicycle shop. The customer acknowledges a text while the agent speaks it, and
// reads a number with pauses.
var bicycles = []string{
	"--pause", "3500ms", // longer than the longest pause of the agent while the acknowledgement is recognized
	"--say", "tuesday please",
	"--over", "1800ms okay",
	"--say", "what does it cost",
	"--say", "in the afternoon",
	"--say", "two zero two [500ms] five zero [800ms] nine",
}

// begin starts the server and connects to it.
func begin(ctx context.Context, work, data, addr, sipAddr string, flags ...string) (*program, clients, error) {
	server, err := start(ctx, filepath.Join(work, "server"), "server", append([]string{
		"--log-format", "json", "--data", data, "--addr", addr, "--sip-addr", sipAddr, "--rtp-ports", "0-0",
	}, flags...)...)
	if err != nil {
		return nil, clients{}, err
	}
	api, err := connect(ctx, server, data)
	if err != nil {
		server.stop()
		return nil, api, fmt.Errorf("%w\n%s", err, server.said())
	}
	return server, api, nil
}

// softphone starts a phone that says the given lines in each call, and returns its SIP URI.
func softphone(ctx context.Context, work, data, name string, lines ...string) (phone *program, endpoint string, err error) {
	args := append([]string{"--data", data, "--listen", "127.0.0.1:0"}, lines...)
	if phone, err = start(ctx, filepath.Join(work, "softphone"), name, args...); err != nil {
		return nil, "", err
	}
	if endpoint, err = phone.line(ctx, "listening at "); err != nil {
		phone.stop()
	}
	return phone, endpoint, err
}

func attach(ctx context.Context, api *sipoas.Client, number, endpoint string) error {
	answer, err := api.AttachSipNumbers(ctx, &sipoas.SipAttach{
		PhoneNumbers: []string{number}, Service: sipoas.SipServiceNameSip,
		Directions: []sipoas.SipDirectionInput{{Type: sipoas.SipDirectionOutbound, SipEndpoint: sipoas.NewOptString(endpoint)}},
	}, sipoas.AttachSipNumbersParams{})
	if err != nil {
		return err
	}
	if len(answer.Data.Failed) > 0 {
		return fmt.Errorf("attaching %s: %s", number, answer.Data.Failed[0].Message)
	}
	fmt.Printf("attached %s to the trunk %s\n", number, endpoint)
	return nil
}

// report prints the record of a call. It returns an error if the call failed, or if the transcript lacks the expected sentences.
func report(record *callsoas.CallRecord) error {
	fmt.Printf("\nThe call %s, %s, with the model %q:\n", record.CallID, record.Status, record.Model.Value)
	agent, caller, interrupted := 0, 0, false
	for _, line := range record.Transcripts {
		fmt.Printf("  %5.1f s  %-9s  %s\n", line.Start.Value, line.User, line.Text)
		for _, h := range line.Held {
			fmt.Printf("                      (paused for %.0f ms at %.1f s: %s)\n", h.Ms, h.StartMs/1000, h.Why)
		}
		interrupted = interrupted || line.Interrupted.Value
		switch line.User {
		case callsoas.TranscriptLineUserAssistant:
			agent++
		case callsoas.TranscriptLineUserUser:
			caller++
		default:
		}
	}
	fmt.Println("\nWhat the pathway decided:")
	for _, l := range record.PathwayLogs {
		if !l.ChosenNodeID.Null {
			fmt.Printf("  to %-6s because %s\n", l.ChosenNodeID.Value, l.Decision.Value)
		}
	}
	fmt.Println()
	said := strings.ToLower(record.ConcatenatedTranscript)
	switch {
	case record.Status != callsoas.CallStatusCompleted:
		return fmt.Errorf("the call ended as %q: %s", record.Status, record.ErrorMessage.Value)
	case agent < 4 || caller < 3:
		return fmt.Errorf("the agent spoke %d times and the caller was understood %d times", agent, caller)
	case !strings.Contains(said, "thirty dollars"), !strings.Contains(said, "on tuesday, in the afternoon"):
		return errors.New("the caller's words did not change what the agent said")
	case interrupted:
		return errors.New("the caller's acknowledgement interrupted the agent")
	case !strings.Contains(said, "your number is 202509"):
		return errors.New("the number that the caller read with pauses is not what the agent understood")
	}
	return nil
}
