package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
)

func trunksCommand(c Config, env func(string) string) *cobra.Command {
	cmd := group(&cobra.Command{
		Use: "trunks", Short: "Look at SIP trunks and test them",
		Long: "Lists the numbers of SIP trunks, shows their configuration, health and calls, and rings their endpoints.",
		Example: "  callwright trunks list\n" +
			"  callwright trunks status +14155550100\n" +
			"  callwright trunks test +14155550100",
	})
	for _, o := range trunkOperations {
		cmd.AddCommand(o.command(c, env))
	}
	cmd.AddCommand(trunkTestCommand(c, env))
	return cmd
}

// ofNumber returns a function that makes a GET request with the command's argument as phone_number and the given flags.
func ofNumber(path string, flags ...string) func(*cobra.Command, []string) (client.Request, error) {
	return func(cmd *cobra.Command, args []string) (client.Request, error) {
		q := query(cmd, flags...)
		q.Set("phone_number", args[0])
		return client.Request{Path: path, Query: q}, nil
	}
}

// static returns a function that makes a GET request for a path without parameters.
func static(path string) func(*cobra.Command, []string) (client.Request, error) {
	return func(*cobra.Command, []string) (client.Request, error) { return client.Request{Path: path}, nil }
}

const aNumber = "a number, such as +14155550100"

var trunkOperations = []operation{
	{
		use: "list", short: "List the numbers of trunks", args: exactly(0, "no arguments"), request: static("/v1/sip/numbers"),
		text: func(w *tabwriter.Writer, v value) {
			table(w, v.at("numbers").list(), "numbers", columns("NUMBER=phone_number", "DIRECTIONS=directions", "ENDPOINT=sip_endpoint", "HEALTH=health_status"))
		},
	},
	{
		use: "show NUMBER", short: "Show the configuration of a trunk", args: exactly(1, aNumber), request: ofNumber("/v1/sip"),
		check: func(v value) error {
			if v.at("inbound").v == nil && v.at("outbound").v == nil {
				return refused(callwright.Errorf(callwright.CodeNotFound, "the number has no trunk: callwright trunks list shows the numbers that have one"))
			}
			return nil
		},
		text: func(w *tabwriter.Writer, v value) {
			for _, direction := range []string{"inbound", "outbound"} {
				fields(w, v.at(direction), columns("Direction=direction", "Number=number", "Endpoint=sip_endpoint", "Transport=options.transport",
					"Port=options.port", "Secure media=options.secure_media", "TLS=options.tls_verification", "Redirects=options.redirect_policy", "Headers=headers", "Changed=updated_at"))
			}
		},
	},
	{
		use: "status NUMBER", short: "Show the health of a trunk", args: exactly(1, aNumber), request: ofNumber("/v1/sip/status"),
		text: func(w *tabwriter.Writer, v value) {
			fields(w, v, columns("Status=status", "Checked=checked_at", "Response time (ms)=response_time_ms",
				"Average (ms)=average_response_time_ms", "Uptime (%)=uptime_percentage"))
		},
	},
	{
		use: "calls NUMBER", short: "List the SIP calls of a trunk, the newest first", args: exactly(1, aNumber),
		flags: func(cmd *cobra.Command) {
			cmd.Flags().Int("limit", 0, "list at most this many, up to 500 (default: the server's 50)")
			cmd.Flags().String("before", "", "only calls before this `call or time`")
		},
		request: ofNumber("/v1/sip/calls", "limit", "before"),
		text: func(w *tabwriter.Writer, v value) {
			table(w, v.at("calls").list(), "calls", columns("CALL=call_id", "STARTED=started_at", "DIRECTION=direction", "FROM=from", "TO=to",
				"STATUS=status", "SECONDS=duration_seconds"))
		},
	},
}

// How long, and how often, a command checks whether its test call has ended.
const (
	testCallTime = 2 * time.Minute
	testCallLook = 500 * time.Millisecond
)

func trunkTestCommand(c Config, env func(string) string) *cobra.Command {
	return &cobra.Command{
		Use: "test NUMBER", Short: "Ring the endpoint of a trunk and tell how it went", Args: exactly(1, aNumber),
		Long: "Rings the endpoint of a trunk, waits at most two minutes for the end, and prints the timeline of the test call. The exit code is 1\n" +
			"if the call was not answered.",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openAPI(c, cmd, env)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), testCallTime)
			defer cancel()
			raw, err := a.testCall(ctx, args[0])
			if err != nil {
				return err
			}
			err = showAnswer(cmd, raw, testCallText)
			if result := valueOf(dataOf(raw)).at("result").String(); err == nil && result != "connected" {
				return &exit{code: ExitRefused}
			}
			return err
		},
	}
}

// testCall starts a test call to a number's endpoint and polls its status. It returns the server's answer when the call has ended, and
// CodeUnavailable if ctx ends first.
func (a *api) testCall(ctx context.Context, number string) (json.RawMessage, error) {
	raw, err := a.call(ctx, client.Request{Method: http.MethodPost, Path: "/v1/sip/test-call", Body: map[string]string{"phone_number": number}})
	if err != nil {
		return nil, err
	}
	look := time.NewTicker(testCallLook)
	defer look.Stop()
	query := url.Values{"call_id": {valueOf(dataOf(raw)).at("call_id").String()}}
	for {
		raw, err = a.call(ctx, client.Request{Path: "/v1/sip/test-call/status", Query: query})
		if err != nil || valueOf(dataOf(raw)).at("result").String() != "pending" {
			return raw, err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil, callwright.Errorf(callwright.CodeUnavailable, "the test call did not end within %v (%w): callwright trunks calls %s shows it when it has ended",
				testCallTime, ctx.Err(), number)
		}
	}
}

func testCallText(w *tabwriter.Writer, v value) {
	fields(w, v, columns("Result=result", "Status=status", "Seconds=duration_seconds"))
	for _, event := range v.at("timeline").list() {
		printf(w, "%s\t%s\t%s\n", event.at("at").String(), event.at("event").String(), event.at("detail").String())
	}
}
