package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/transport/client"
)

func issuesCommand(c Config, env func(string) string) *cobra.Command {
	cmd := group(&cobra.Command{
		Use: "issues", Short: "Work on issues of triage",
		Example: "  callwright issues list --status todo,in_progress\n" +
			"  callwright issues comment 01932c29-b6dc-74cb-850d-c915c6d7e8f9 \"Heard it myself.\"\n" +
			"  callwright issues status 01932c29-b6dc-74cb-850d-c915c6d7e8f9 done",
	})
	for _, o := range issueOperations {
		cmd.AddCommand(o.command(c, env))
	}
	status := issueStatus.command(c, env)
	status.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return issueStates, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	cmd.AddCommand(status)
	return cmd
}

const anIssue = "the id of an issue, or its name such as T-1001"

// issueNames matches the readable names of issues.
var issueNames = regexp.MustCompile(`^T-[0-9]+$`)

// issueNamed returns the id of the issue with the given readable name. It returns any other text unchanged, as an id.
func issueNamed(ctx context.Context, a *api, name string) (string, error) {
	if !issueNames.MatchString(name) {
		return name, nil
	}
	raw, err := a.call(ctx, client.Request{Path: "/v1/triage/issues", Query: url.Values{"search": {name}}})
	if err != nil {
		return "", err
	}
	for _, issue := range valueOf(dataOf(raw)).at("items").list() {
		if issue.at("triage_id").String() == name {
			return issue.at("id").String(), nil
		}
	}
	return "", fmt.Errorf("the issue %s does not exist", name)
}

var issueStates = []string{"backlog", "todo", "in_progress", "in_review", "done", "closed"}

// issueText prints the fields of an issue.
func issueText(w *tabwriter.Writer, v value) {
	fields(w, v, columns("Issue=triage_id", "Id=id", "Title=title", "Status=status", "Severity=severity", "Category=category", "Assignee=assignee_id",
		"Created=created_at", "Last activity=last_activity_at", "Description=description"))
}

var issueOperations = []operation{
	{
		use: "list", short: "List issues, the latest activity first", args: exactly(0, "no arguments"),
		flags: func(cmd *cobra.Command) {
			paged(cmd)
			cmd.Flags().StringSlice("status", nil, "only these `states`, with commas")
			cmd.Flags().StringSlice("severity", nil, "only these `severities`, with commas")
			cmd.Flags().String("search", "", "only issues with these `words`")
			cmd.Flags().String("assignee", "", "only issues of this assignee, by `id`")
		},
		request: func(cmd *cobra.Command, _ []string) (client.Request, error) {
			return client.Request{
				Path: "/v1/triage/issues", Query: query(cmd, "limit", "cursor", "status", "severity", "search", "assignee=assignee_id"),
			}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			table(w, v.at("items").list(), "issues", columns("ISSUE=triage_id", "ID=id", "STATUS=status", "SEVERITY=severity",
				"LAST ACTIVITY=last_activity_at", "TITLE=title"))
			next(w, v)
		},
	},
	{
		use: "show ISSUE", short: "Show an issue", args: exactly(1, anIssue), named: issueNamed, text: issueText,
		request: func(_ *cobra.Command, args []string) (client.Request, error) {
			return client.Request{Path: client.Path("v1", "triage", "issues", args[0])}, nil
		},
	},
	{
		use: "activity ISSUE", short: "Show the activity of an issue, the newest first", args: exactly(1, anIssue), named: issueNamed, flags: paged,
		request: func(cmd *cobra.Command, args []string) (client.Request, error) {
			return client.Request{Path: client.Path("v1", "triage", "issues", args[0], "activity"), Query: query(cmd, "limit", "cursor")}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			table(w, v.at("items").list(), "entries", columns("TIME=created_at", "BY=actor.label", "TYPE=type", "TO=to_status", "TEXT=detail"))
			next(w, v)
		},
	},
	{
		use: "comment ISSUE TEXT", short: "Comment on an issue", args: exactly(2, anIssue+" and a text, or - for the standard input"), named: issueNamed,
		request: func(cmd *cobra.Command, args []string) (client.Request, error) {
			text, err := textOf(cmd, args[1])
			switch {
			case err != nil:
				return client.Request{}, fmt.Errorf("the standard input cannot be read: %w", err)
			case text == "":
				return client.Request{}, errors.New("the comment must not be empty")
			}
			return client.Request{
				Method: http.MethodPost, Path: client.Path("v1", "triage", "issues", args[0], "comments"), Body: map[string]string{"detail": text},
			}, nil
		},
		text: pairs("Comment=id", "By=actor.label", "Created=created_at", "Text=detail"),
	},
}

var issueStatus = operation{
	use: "status ISSUE STATUS", short: "Change the status of an issue", args: exactly(2, anIssue+" and a status"), named: issueNamed, text: issueText,
	long: "Changes the status of an issue: backlog, todo, in_progress, in_review, done or closed.",
	request: func(_ *cobra.Command, args []string) (client.Request, error) {
		return client.Request{
			Method: http.MethodPatch, Path: client.Path("v1", "triage", "issues", args[0]), Body: map[string]string{"status": args[1]},
		}, nil
	},
}
