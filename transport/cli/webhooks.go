package cli

import (
	"net/http"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/transport/client"
)

func webhooksCommand(c Config, env func(string) string) *cobra.Command {
	cmd := group(&cobra.Command{
		Use: "webhooks", Short: "Look at paused webhooks and resume them",
		Example: "  callwright webhooks paused\n  callwright webhooks resume hooks.example.com:8443",
	})
	for _, o := range webhookOperations {
		cmd.AddCommand(o.command(c, env))
	}
	return cmd
}

var webhookOperations = []operation{
	{
		use: "paused", short: "List hosts to which messages are paused", args: exactly(0, "no arguments"),
		long: "Lists the hosts to which messages are paused, because they have accepted none for an hour.",
		request: func(*cobra.Command, []string) (client.Request, error) {
			return client.Request{Path: "/v1/webhooks/paused"}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			table(w, v.list(), "paused hosts", columns("HOST=host", "FAILING SINCE=failing_since", "FAILURES=failures", "PAUSED=paused_at",
				"NEXT ATTEMPT=next_attempt_at", "LAST FAILURE=last_failure"))
		},
	},
	{
		use: "resume HOST", short: "End the pause of a host", args: exactly(1, "a host, as webhooks paused shows it"), text: statusText,
		long: "Ends the pause of a host. Messages that wait for it are sent within 25 minutes.",
		request: func(_ *cobra.Command, args []string) (client.Request, error) {
			return client.Request{Method: http.MethodPost, Path: "/v1/webhooks/resume", Body: map[string]string{"host": args[0]}}, nil
		},
	},
}
