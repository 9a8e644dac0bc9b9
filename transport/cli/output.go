package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf16"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/callwright/callwright"
)

// asJSON reports whether the root's flag --json is set.
func asJSON(cmd *cobra.Command) bool {
	yes, _ := cmd.Root().PersistentFlags().GetBool(jsonFlag)
	return yes
}

// asksJSON reports whether arguments contain --json. It is for the case that the flags could not be parsed.
func asksJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--" + jsonFlag, "--" + jsonFlag + "=true":
			return true
		case "--":
			return false
		}
	}
	return false
}

// show prints the result of a command: v as JSON with --json, and otherwise a table that the function text writes. Control and invisible
// characters are escaped in both, because some texts are untrusted; the function text must call printf for this.
func show(cmd *cobra.Command, v any, text func(w *tabwriter.Writer)) error {
	if asJSON(cmd) {
		return showJSON(cmd.OutOrStdout(), v)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	text(w)
	return w.Flush()
}

// showJSON prints a value as indented JSON, with control and invisible characters escaped.
func showJSON(out io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(out, visible(b.String(), "\n"))
	return err
}

// notice prints a message that is not part of the result to stderr. With --json it prints a line {"notice": "..."}.
func notice(cmd *cobra.Command, format string, args ...any) { //nolint:goprintffuncname // named after what it prints, as show is
	text := fmt.Sprintf(format, args...)
	if !asJSON(cmd) {
		cmd.PrintErrln(visible(text, ""))
		return
	}
	printLine(cmd.ErrOrStderr(), struct {
		Notice string `json:"notice"`
	}{text})
}

// printLine prints a value as a line of JSON. It ignores errors, because they cannot be reported.
func printLine(to io.Writer, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return
	}
	_, _ = io.WriteString(to, visible(b.String(), "\n"))
}

// printf writes to a table and escapes texts in args with visible. Flush of the table returns write errors.
func printf(w *tabwriter.Writer, format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = visible(text, "")
		}
	}
	_, _ = fmt.Fprintf(w, format, args...)
}

// visible returns text with its control and format characters escaped as in JSON, except the characters that kept contains. It replaces
// invalid UTF-8.
func visible(text, kept string) string {
	var b strings.Builder
	for _, c := range strings.ToValidUTF8(text, "\ufffd") {
		if !callwright.Hidden(c) || strings.ContainsRune(kept, c) {
			b.WriteRune(c)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, c) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// isTerminal reports whether a reader or a writer is a terminal, according to Config.Terminal or else the system.
func (c Config) isTerminal(stream any) bool {
	if c.Terminal != nil {
		return c.Terminal(stream)
	}
	file, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}
