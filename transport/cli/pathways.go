package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/transport/client"
)

func pathwaysCommand(c Config, env func(string) string) *cobra.Command {
	cmd := group(&cobra.Command{
		Use: "pathways", Short: "Look at pathways, publish them and chat with them",
		Example: "  callwright pathways list\n" +
			"  callwright pathways publish 01932c1f-0b21-7f10-9a52-1e6a1b2c3d4e 8\n" +
			"  callwright pathways chat 01932c1f-0b21-7f10-9a52-1e6a1b2c3d4e",
	})
	for _, o := range pathwayOperations {
		cmd.AddCommand(o.command(c, env))
	}
	cmd.AddCommand(publishCommand(c, env), chatCommand(c, env))
	return cmd
}

const aPathway = "the id of a pathway"

var pathwayOperations = []operation{
	{
		use: "list", short: "List pathways, the newest first", args: exactly(0, "no arguments"),
		flags: func(cmd *cobra.Command) {
			cmd.Flags().Int("limit", 0, "list at most this many (default: the server's 50)")
			cmd.Flags().Int("offset", 0, "skip this many")
		},
		request: func(cmd *cobra.Command, _ []string) (client.Request, error) {
			return client.Request{Path: "/v1/pathway", Query: query(cmd, "limit", "offset")}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			table(w, v.list(), "pathways", columns("PATHWAY=id", "NAME=name", "PRODUCTION=production_version_number",
				"STAGING=staging_version_number", "CHANGED=updated_at"))
		},
	},
	{
		use: "show PATHWAY", short: "Show a pathway with its draft", args: exactly(1, aPathway),
		request: func(_ *cobra.Command, args []string) (client.Request, error) {
			return client.Request{Path: client.Path("v1", "pathway", args[0])}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			fields(w, v, columns("Pathway=id", "Name=name", "Description=description", "Production=production_version_number",
				"Staging=staging_version_number", "Changed=updated_at"))
			for _, node := range v.at("nodes").list() {
				if node.at("id").v != nil {
					printf(w, "Node\t%s (%s): %s\n", node.at("id").String(), node.at("type").String(), node.at("data", "name").String())
				}
			}
			for _, edge := range v.at("edges").list() {
				printf(w, "Edge\t%s to %s: %s\n", edge.at("source").String(), edge.at("target").String(), edge.at("data", "label").String())
			}
		},
	},
	{
		use: "versions PATHWAY", short: "List the versions of a pathway, the newest first", args: exactly(1, aPathway),
		request: func(_ *cobra.Command, args []string) (client.Request, error) {
			return client.Request{Path: client.Path("v1", "pathway", args[0], "versions")}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			table(w, v.list(), "versions", columns("VERSION=version_number", "NAME=name", "CREATED=created_at", "FROM=parent_version_number",
				"PUBLISHED IN=environments"))
		},
	},
}

func publishCommand(c Config, env func(string) string) *cobra.Command {
	body := struct {
		Version     int    `json:"version_id"`
		Environment string `json:"environment,omitempty"`
		OnPass      bool   `json:"publish_on_pass,omitempty"`
	}{}
	cmd := operation{
		use: "publish PATHWAY VERSION", short: "Publish a version of a pathway", args: exactly(2, aPathway+" and the number of a version"),
		request: func(_ *cobra.Command, args []string) (client.Request, error) {
			var err error
			if body.Version, err = strconv.Atoi(args[1]); err != nil {
				return client.Request{}, errors.New("the version must be a whole number, such as 3")
			}
			return client.Request{Method: http.MethodPost, Path: client.Path("v1", "pathway", args[0], "publish"), Body: body}, nil
		},
		text: statusText,
	}.command(c, env)
	cmd.Flags().StringVar(&body.Environment, "environment", "", "production (the default) or staging")
	cmd.Flags().BoolVar(&body.OnPass, "on-pass", false, "publish when the tests that are required have passed")
	mustComplete(cmd, "environment", cobra.FixedCompletions([]string{"production", "staging"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

const maxMessage = 64 << 10 // maximum bytes of a line in a chat

func chatCommand(c Config, env func(string) string) *cobra.Command {
	body := struct {
		Pathway   string            `json:"pathway_id"`
		Version   string            `json:"pathway_version,omitempty"`
		Variables map[string]string `json:"request_data,omitempty"`
	}{}
	cmd := &cobra.Command{
		Use: "chat PATHWAY", Short: "Talk to a pathway in text", Args: exactly(1, aPathway),
		Long: "Begins a text conversation with a pathway, and sends it each line of the standard input until the pathway ends it, or the input\n" +
			"does. With --json each answer of the server is a line of JSON.",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openAPI(c, cmd, env)
			if err != nil {
				return err
			}
			body.Pathway = args[0]
			return a.chat(cmd.Context(), cmd, body, c.isTerminal(cmd.InOrStdin()))
		},
	}
	cmd.Flags().StringVar(&body.Version, "version", "", "production (the default), staging, or the `number` of a version")
	cmd.Flags().StringToStringVar(&body.Variables, "var", nil, "a variable of the chat, `name=value`; may be given several times")
	return cmd
}

// chat starts a chat and sends each non-empty line of the standard input as a message, until the chat is completed or the input ends.
func (a *api) chat(ctx context.Context, cmd *cobra.Command, begin any, prompt bool) error {
	raw, err := a.call(ctx, client.Request{Method: http.MethodPost, Path: "/v1/pathway/chat/create", Body: begin})
	if err != nil {
		return err
	}
	data := dataOf(raw)
	turn := func(lines ...value) {
		if asJSON(cmd) {
			printLine(cmd.OutOrStdout(), data)
			return
		}
		for _, line := range lines {
			_, _ = fmt.Fprintln(cmd.OutOrStdout(), visible(line.String(), "\n")) // a write error here also fails the next write
		}
	}
	turn(valueOf(data).at("message"))
	path := client.Path("v1", "pathway", "chat", valueOf(data).at("chat_id").String())
	in := bufio.NewScanner(cmd.InOrStdin())
	in.Buffer(nil, maxMessage)
	for {
		if prompt && !asJSON(cmd) {
			_, _ = fmt.Fprint(cmd.ErrOrStderr(), "> ") // shows that the command waits for input
		}
		if !in.Scan() {
			return in.Err()
		}
		if in.Text() == "" {
			continue
		}
		raw, err := a.call(ctx, client.Request{Method: http.MethodPost, Path: path, Body: map[string]string{"message": in.Text()}})
		if err != nil {
			return err
		}
		data = dataOf(raw)
		turn(valueOf(data).at("assistant_responses").list()...)
		if ended, _ := valueOf(data).at("completed").v.(bool); ended {
			return nil
		}
	}
}

// pairs returns a function that prints the members of a record, one per line.
func pairs(of ...string) func(w *tabwriter.Writer, v value) {
	return func(w *tabwriter.Writer, v value) { fields(w, v, columns(of...)) }
}
