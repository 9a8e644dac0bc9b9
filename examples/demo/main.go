// Command demo shows one real telephone call: it starts the reference server and a softphone as programs of their own,
// attaches a trunk through the API, has the server call the phone over TLS and SRTP, and prints what the two said. Then
// it makes a test of the call, and runs it against the call's pathway. It ends with 0 only if all of that happened. Everything is on this machine, and gone at the end but the recording.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/sipoas"
)

// patience is how long the whole demo may take once the programs are built.
const patience = 3 * time.Minute

// The demo's numbers are fictitious ones of the North American plan (555-01xx).
const (
	ourNumber   = "+12025550101"
	phoneNumber = "+12025550102"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run() error {
	work, err := os.MkdirTemp("", "callwright-demo-")
	if err != nil {
		return err
	}
	fmt.Println("building the server and the softphone")
	if err := build(work, "server", "softphone"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	data := filepath.Join(work, "data")
	server, err := start(ctx, filepath.Join(work, "server"), "--log-format", "json", "--data", data, "--addr", "127.0.0.1:0",
		"--sip-addr", "127.0.0.1:0", "--rtp-ports", "0-0")
	if err != nil {
		return err
	}
	defer server.stop()
	api, err := connect(ctx, server, data)
	if err != nil {
		return err
	}
	heard := filepath.Join(work, "softphone.wav")
	phone, err := start(ctx, filepath.Join(work, "softphone"), "--data", data, "--listen", "127.0.0.1:0", "--calls", "1",
		"--record", heard, "--say", "tuesday please", "--say", "what does it cost", "--say", "in the afternoon")
	if err != nil {
		return err
	}
	defer phone.stop()
	endpoint, err := phone.line(ctx, "listening at ")
	if err != nil {
		return err
	}
	if err := attach(ctx, api.trunks, endpoint); err != nil {
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
	recording := filepath.Join(work, "recording.wav")
	return errors.Join(
		report(record), testAgain(ctx, api.tests, record.CallID, pathway), saveRecording(ctx, api.calls, record.CallID, recording),
	)
}

func attach(ctx context.Context, api *sipoas.Client, endpoint string) error {
	answer, err := api.AttachSipNumbers(ctx, &sipoas.SipAttach{
		PhoneNumbers: []string{ourNumber}, Service: sipoas.SipServiceNameSip,
		Directions: []sipoas.SipDirectionInput{{Type: sipoas.SipDirectionOutbound, SipEndpoint: sipoas.NewOptString(endpoint)}},
	}, sipoas.AttachSipNumbersParams{})
	if err != nil {
		return err
	}
	if len(answer.Data.Failed) > 0 {
		return fmt.Errorf("attaching %s: %s", ourNumber, answer.Data.Failed[0].Message)
	}
	fmt.Printf("attached %s to the trunk %s\n", ourNumber, endpoint)
	return nil
}

// report prints the call and says what is missing of what the demo shows.
func report(record *callsoas.CallRecord) error {
	fmt.Printf("\nThe call %s, %s, with the model %q:\n", record.CallID, record.Status, record.Model.Value)
	agent, caller := 0, 0
	for _, line := range record.Transcripts {
		fmt.Printf("  %5.1f s  %-9s  %s\n", line.Start.Value, line.User, line.Text)
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
	}
	return nil
}
