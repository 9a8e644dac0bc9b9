package cli

import (
	"errors"
	"net/url"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/transport/client"
)

// The ids of the command groups in the help of callwright ports.
const (
	groupRequests = "requests"
	groupOrders   = "orders"
)

// portOperations lists the customers' commands, which use the API.
var portOperations = []operation{
	{
		use: "requests", short: "List your organization's port requests, the newest first", args: exactly(0, "no arguments"),
		flags: func(cmd *cobra.Command) {
			paged(cmd)
			cmd.Flags().StringSlice("status", nil, "only these `states`, with commas")
		},
		request: func(cmd *cobra.Command, _ []string) (client.Request, error) {
			return client.Request{Path: "/v1/sip/port", Query: query(cmd, "limit", "cursor", "status")}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			table(w, v.at("port_requests").list(), "port requests", columns("REQUEST=id", "STATUS=status", "DETAIL=status_detail",
				"FOC=foc_date", "MUST ACT=who_must_act", "CREATED=created_at"))
			next(w, v)
		},
	},
	{
		use: "request REQUEST", short: "Show a port request with its numbers and its history", args: exactly(1, "the id of a port request"),
		request: func(_ *cobra.Command, args []string) (client.Request, error) {
			return client.Request{Path: client.Path("v1", "sip", "port", args[0])}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			r := v.at("port_request")
			fields(w, r, columns("Request=id", "Status=status", "Detail=status_detail", "Target date=target_port_date", "FOC=foc_date",
				"Sign by=sign_by", "Signed=signed_at", "Must act=who_must_act", "Failure=failure_reason", "Created=created_at"))
			for _, n := range r.at("phone_numbers").list() {
				printf(w, "Number\t%s %s %s\n", n.at("number").String(), n.at("status").String(), n.at("reason").String())
			}
			for _, h := range r.at("history").list() {
				printf(w, "History\t%s %s %s\n", h.at("at").String(), h.at("event").String(), h.at("to").String())
			}
		},
	},
	{
		use: "check NUMBER...", short: "Ask whether numbers can be ported",
		args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("the command requires at least one number, such as +14155550100"))
			}
			return nil
		},
		request: func(_ *cobra.Command, args []string) (client.Request, error) {
			return client.Request{Path: "/v1/sip/port/check", Query: url.Values{"phone_numbers[]": args}}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			table(w, v.at("results").list(), "numbers", columns("NUMBER=phone_number", "PORTABLE=portable", "TYPE=number_type",
				"PIN=pin_required", "SOURCE=source", "REASON=not_portable_reason"))
		},
	},
}
